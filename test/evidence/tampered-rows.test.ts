import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { call } from '../support/http-client.ts'
import { openProvenSandbox, type ProvenSandbox } from './proven-sandbox.ts'
import type { Verdict } from './python-verifier.ts'

const NAME = 'a transfer under a grant that was resumed'

/** What a superuser of PostgreSQL changes, and what comes out. */
interface Tampering {
  readonly table: string
  /** The statement. `$1` is the id of the payment. */
  readonly change: string
  /** What both verifiers find, or the code of the error if there is no file. */
  readonly found: string
}

const YES = 'yes, yes, yes'
const UNKNOWN = 'not checked, not checked, not checked'
const ofPayment = "(select position from log_leaves where subject = $1 and type = 'payment.decided')"

const TAMPERINGS: Readonly<Record<string, Tampering>> = {
  'a leaf is deleted': {
    table: 'log_leaves',
    change: "delete from log_leaves where subject = $1 and type = 'payment.decided'",
    found: 'evidence_unavailable',
  },
  'the leaf of a signature is deleted': {
    table: 'log_leaves',
    change: `delete from log_leaves l using owner_signatures s, payments p
      where p.id = $1 and s.subject = p.grant_id and l.type = 'signature' and l.content like '%"' || s.subject || '"%'`,
    found: UNKNOWN,
  },
  'two leaves change places': {
    table: 'log_leaves',
    change: `update log_leaves set position = position + 1000000 where position in (0, ${ofPayment});
      update log_leaves set position = ${ofPayment} - position where position >= 1000000`,
    found: 'logs[0].leaves[0].proof',
  },
  'the amount is raised in a leaf': {
    table: 'log_leaves',
    change: `update log_leaves set content = replace(content, '"amount":"1000000"', '"amount":"2000000"') where subject = $1`,
    found: 'logs[0].leaves[5].proof',
  },
  'a hash in a tile is changed': {
    table: 'log_tiles',
    change: `update log_tiles set hashes = set_byte(hashes, 0, 255 - get_byte(hashes, 0)) where level = 0 and number = 0 and $1 <> ''`,
    found: 'logs[0].leaves[0].proof',
  },
  'the head is made smaller': {
    table: 'log_head',
    change: `update log_head set size = size - 1, checkpoint = replace(checkpoint, e'\\n' || size || e'\\n',
      e'\\n' || size - 1 || e'\\n') where $1 <> ''`,
    found: 'logs[0].leaves[0].proof',
  },
  'an entry of the audit log is changed': {
    table: 'audit_entries',
    change: `update audit_entries a set details = jsonb_set(details, '{terms,daily_cap_usdc}', '"1000"') from payments p
      where p.id = $1 and a.subject = p.grant_id and a.action = 'grant.activated'`,
    found: 'logs[0].leaves[2].texts.details',
  },
  'an entry of the audit log is deleted': {
    table: 'audit_entries',
    change: `delete from audit_entries a using payments p
      where p.id = $1 and a.subject = p.grant_id and a.action = 'grant.activated'`,
    found: 'no, yes, yes',
  },
  'the amount of the payment is changed': {
    table: 'payments',
    change: 'update payments set amount_micro = 2000000 where id = $1',
    found: YES,
  },
  'the memo of the payment is changed': {
    table: 'payments',
    change: "update payments set memo = 'Another' where id = $1",
    found: 'logs[0].leaves[5].texts.memo',
  },
  'the grant of the payment is changed': {
    table: 'payments',
    change: `update payments p set grant_id = (select max(grant_id) from payments q where q.wallet_address = p.wallet_address
      and q.grant_id <> p.grant_id) where id = $1`,
    found: 'logs[0].leaves[2]',
  },
  'the person of a signature is changed': {
    table: 'owner_signatures',
    change:
      "update owner_signatures s set user_id = 'usr_x' from payments p where p.id = $1 and s.subject = p.grant_id",
    found: 'signatures[1]',
  },
  'the bytes of a signature are changed': {
    table: 'owner_signatures',
    change: `update owner_signatures s set assertion = jsonb_set(assertion, '{signature}',
        (select assertion -> 'signature' from owner_signatures where kind = 'record' and workspace_id = p.workspace_id
          order by received_at limit 1))
      from payments p where p.id = $1 and s.subject = p.grant_id and s.kind = 'grant'`,
    found: 'signatures[1].assertion.signature',
  },
  'a signature is deleted': {
    table: 'owner_signatures',
    change:
      "delete from owner_signatures s using payments p where p.id = $1 and s.subject = p.grant_id and s.kind = 'grant'",
    found: UNKNOWN,
  },
}

describe('somebody who may do anything in the database', () => {
  let proven: ProvenSandbox
  let id: string
  before(async () => {
    proven = await openProvenSandbox()
    id = proven.payments.ids.get(NAME) ?? assert.fail()
  })

  for (const [name, { table, change, found }] of Object.entries(TAMPERINGS)) {
    test(`${name}: ${found}`, async () => {
      const quoted = change.replaceAll('$1', `'${id}'`)
      const { fixture } = proven
      // Triggers reject such changes, but not those of a superuser who turns them off.
      await fixture.query(`begin; set local session_replication_role = replica;
        create table tampered as table ${table}; ${quoted}; commit`)
      try {
        assert.equal(await exportAndVerify(), found)
      } finally {
        await fixture.query(`begin; set local session_replication_role = replica;
          delete from ${table}; insert into ${table} table tampered; drop table tampered; commit`)
      }
    })
  }

  async function exportAndVerify(): Promise<string> {
    const { fixture, payments, verifiers, given } = proven
    const { status, text } = await call(fixture.baseUrl, 'GET', `/v1/payments/${id}/evidence`, { key: payments.key })
    if (status !== 200) return (JSON.parse(text) as { error: { code: string } }).error.code
    return describeVerdict(await verifiers.verify(text, given))
  }
})

function describeVerdict(verdict: Verdict): string {
  if (!verdict.valid) return verdict.part
  assert.ok('payment' in verdict)
  return [verdict.owner_signed, verdict.within_limits, verdict.on_chain].join(', ')
}
