import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { openProxiedEnclave, type ProxiedEnclave } from '../../../../test/support/context/enclave-context.ts'
import { checkLog, openEvidence, type EvidenceFile } from '../../../../test/support/context/evidence-file.ts'
import {
  openActive,
  openNext,
  openOwned,
  signChange,
  type Owned,
} from '../../../../test/support/context/grant-fixture.ts'
import { logAll } from '../../../../test/support/context/log-leaves.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import {
  changeOwners,
  prepareChange,
  resume,
  signRecord,
  submit,
  withdrawOne,
} from '../../../../test/support/context/owner-fixture.ts'
import { seedPayment } from '../../../../test/support/context/payment-rows.ts'
import { addWalletOwner } from '../../../../test/support/context/people.ts'
import { agent } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { cleanUpOnce } from '../../jobs/clean-up.ts'
import { createAgent } from '../agents/create-agent.ts'
import type { Context } from '../context.ts'
import type { Grant } from '../grants/grant.ts'
import { suspendGrant } from '../grants/suspend-grant.ts'
import type { Payment } from '../payments/payment.ts'
import { stopAgents } from '../stops/stop-agents.ts'
import { SIGNATURE_FENCE_MARGIN_MS, SIGNING_REQUEST_MS } from '../wallets/signing-fence.ts'
import { DOES_NOT_PROVE } from './evidence-format.ts'
import { getEvidence } from './get-evidence.ts'
import { listEvidence } from './list-evidence.ts'

const FENCE_MS = SIGNING_REQUEST_MS + SIGNATURE_FENCE_MARGIN_MS

describe('evidence of a payment', () => {
  let enclave: ProxiedEnclave
  let given: TestContext
  let ctx: Context
  before(async () => {
    enclave = await openProxiedEnclave()
    given = await openTestContext(enclave.use)
    ctx = given.context
  })
  after(async () => {
    await given.close()
    await enclave.close()
  })

  test('has the leaves of the payment and of its grant, and the signatures of the grant and of the record', async () => {
    const owned = await openRecorded()
    const grant = await openActive(ctx, owned)
    const payment = await pay(owned, grant, { memo: 'for Ada', idempotencyKey: 'order-7' })
    const file = await read(owned, payment)
    const [record, granted] = file.signatures
    assert.deepEqual(describeFile(file), [
      `record ${owned.wallet.address}`,
      `grant ${grant.id}`,
      `grant.activated ${grant.id}`,
      'payment.decided',
      'payment.ended',
    ])
    assert.deepEqual([record?.credential, granted?.credential], [owned.owner.credentialId, owned.owner.credentialId])
    const [log] = file.logs
    const texts = log?.leaves.map((leaf) => leaf.texts) ?? []
    assert.deepEqual(texts[3], { idempotency_key: 'order-7', memo: 'for Ada' })
    assert.match(texts[2]?.['details'] ?? '', /^\{"agent_id":"payer","mode":"test","terms":\{"contract_allowlist":/)
  })

  test('of the same payment has the same bytes, except for checkpoint, proofs and seal, until the grant is revoked', async () => {
    const owned = await openRecorded()
    const grant = await openActive(ctx, owned)
    const payment = await pay(owned, grant)
    const first = await read(owned, payment)
    await pay(owned, grant)
    const second = await read(owned, payment)
    assert.notEqual(first.logs[0]?.checkpoint, second.logs[0]?.checkpoint)
    assert.deepEqual(withoutTree(second), withoutTree(first))
    await signChange(ctx, owned, { grantId: grant.id, change: 'revoke' })
    assert.deepEqual(describeFile(await read(owned, payment)), [...describeFile(first), `grant.revoked ${grant.id}`])
  })

  test('of a resumed grant has the last suspension and the signature that resumed it, of a stop too', async () => {
    const owned = await openRecorded()
    const grant = await openActive(ctx, owned)
    const { workspaceId, mode, actor } = owned
    const free = await pay(owned, grant)
    await suspendGrant(ctx, { workspaceId, grantId: grant.id, actor })
    const suspended = await pay(owned, grant)
    await resume(ctx, owned, { grantId: grant.id })
    const resumed = await pay(owned, grant)
    const scope = { workspaceId, mode, actor }
    const { stop } = await stopAgents(ctx, { ...scope, agentId: owned.agentId, walletAddress: null })
    const stopId = stop?.id ?? assert.fail()
    await resume(ctx, owned, { stopId })
    const released = await pay(owned, grant)
    await stopAgents(ctx, { ...scope, agentId: null, walletAddress: null })
    await resume(ctx, owned, { grantId: grant.id })
    const alone = await pay(owned, grant)

    const granted = [`record ${owned.wallet.address}`, `grant ${grant.id}`, `grant.activated ${grant.id}`]
    const rest = async (payment: Payment) => {
      const parts = describeFile(await read(owned, payment))
      assert.deepEqual(
        parts.filter((part) => granted.includes(part)),
        granted,
      )
      return parts.filter((part) => !granted.includes(part) && !part.startsWith('payment.'))
    }
    assert.deepEqual(await rest(free), [])
    assert.deepEqual(await rest(suspended), [`grant.suspended ${grant.id}`])
    assert.deepEqual(await rest(resumed), [`grant.suspended ${grant.id}`, `resume ${grant.id}`])
    assert.deepEqual(await rest(released), [`agents.stopped ${stopId}`, `resume ${stopId}`])
    const [stopped, last] = await rest(alone)
    assert.deepEqual(
      [last, stopped?.startsWith('agents.stopped '), stopped?.endsWith(stopId)],
      [`resume ${grant.id}`, true, false],
    )
  })

  test('names what suspended the grant, and not a stop that found it suspended already, nor one of another agent', async () => {
    const owned = await openRecorded()
    const { workspaceId, mode, actor } = owned
    const other = await openOther(owned)
    const [grant, another] = [await openActive(ctx, owned), await openActive(ctx, other)]
    const ofStop = (parts: string[]) => parts.filter((part) => /^(grant\.suspended|agents|resume)/.test(part))
    await stopAgents(ctx, { workspaceId, mode, actor, agentId: other.agentId, walletAddress: null })
    await resume(ctx, owned, { grantId: another.id })
    assert.deepEqual(ofStop(describeFile(await read(owned, await pay(owned, grant)))), [])

    await suspendGrant(ctx, { workspaceId, grantId: grant.id, actor })
    const { stop } = await stopAgents(ctx, { workspaceId, mode, actor, agentId: null, walletAddress: null })
    assert.ok(stop !== null)
    await resume(ctx, owned, { grantId: grant.id })
    const parts = [`grant.suspended ${grant.id}`, `resume ${grant.id}`]
    assert.deepEqual(ofStop(describeFile(await read(owned, await pay(owned, grant)))), parts)
  })

  test('names the grant that allowed the payment, not the one that replaced it', async () => {
    const owned = await openRecorded()
    const old = await openActive(ctx, owned)
    const before = await pay(owned, old)
    const next = await openNext(ctx, owned, old)
    await signChange(ctx, owned, { grantId: next.id, change: 'activate' })
    const afterwards = await pay(owned, next)
    const record = `record ${owned.wallet.address}`
    const own = ['payment.decided', 'payment.ended']
    const [first, second] = [await read(owned, before), await read(owned, afterwards)]
    assert.deepEqual(describeFile(first), [
      ...[record, `grant ${old.id}`, `grant.activated ${old.id}`],
      ...[...own, `grant.revoked ${old.id}`],
    ])
    assert.deepEqual(describeFile(second), [record, `grant ${next.id}`, `grant.activated ${next.id}`, ...own])
  })

  test('has the changes of owners before the payment, and the records of the passkeys that signed these and the grant', async () => {
    const owned = await openRecorded()
    const { actor, wallet, workspaceId, mode } = owned
    const second = await addWalletOwner(ctx, actor.id)
    await changeOwners(ctx, owned, { kind: 'add_owner', credentialId: second.credentialId })
    await signRecord(ctx, owned, second)
    const grant = await openActive(ctx, { ...owned, owner: second })
    const payment = await pay(owned, grant)
    const other = await openOther(owned)
    const ofFirst = await read(owned, await pay(other, await openActive(ctx, other)))
    assert.deepEqual(
      ofFirst.signatures.map(({ kind, credential }) => [kind, credential]),
      ['record', 'owners', 'grant'].map((kind) => [kind, owned.owner.credentialId]),
    )
    await changeOwners(ctx, owned, { kind: 'remove_owner', credentialId: second.credentialId })
    const file = await read(owned, payment)
    assert.deepEqual(
      file.signatures.map(({ kind, credential }) => [kind, credential]),
      [
        ['record', owned.owner.credentialId],
        ['owners', owned.owner.credentialId],
        ['record', second.credentialId],
        ['grant', second.credentialId],
      ],
    )
    assert.deepEqual(
      [workspaceId, mode, wallet.address],
      [file.signatures[1]?.['workspace'], 'test', file.signatures[1]?.subject],
    )
  })

  test('has no change of owners that the enclave refused', async () => {
    const owned = await openRecorded()
    const second = await addWalletOwner(ctx, owned.actor.id)
    await changeOwners(ctx, owned, { kind: 'add_owner', credentialId: second.credentialId })
    await signRecord(ctx, owned, second)
    await enclave.moveClock(FENCE_MS)
    const removed = changeOwners(ctx, owned, { kind: 'remove_owner', credentialId: second.credentialId })
    await assert.rejects(removed, (error) => !(error instanceof assert.AssertionError))
    await enclave.moveClock(0)
    const grant = await openActive(ctx, { ...owned, owner: second })
    const payment = await pay(owned, grant)
    const list = async () => (await read(owned, payment)).signatures.map(({ kind, credential }) => [kind, credential])
    const kept = [
      ...['record', 'owners'].map((kind) => [kind, owned.owner.credentialId]),
      ...['record', 'grant'].map((kind) => [kind, second.credentialId]),
    ]
    assert.deepEqual(await list(), kept)
    const readEffects = async () => {
      const text = 'select took_effect from owner_signatures where subject = $1 order by 1'
      return (await readRows(ctx.db, text, [owned.wallet.address])).map(({ took_effect: tookEffect }) => tookEffect)
    }
    assert.deepEqual(await readEffects(), [false, true, null, null])

    await changeOwners(later(ctx, 2 * FENCE_MS), owned, { kind: 'remove_owner', credentialId: second.credentialId })
    assert.deepEqual(await list(), kept, 'the same change that was made later does not make it so')
    assert.deepEqual(await readEffects(), [false, true, true, null, null])
  })

  test('has a removal of an owner after the grant that this owner signed, although the enclave had refused one before', async () => {
    for (const refuse of [refuseChange, loseChange]) {
      const owned = await openRecorded()
      const second = await addWalletOwner(ctx, owned.actor.id)
      await changeOwners(ctx, owned, { kind: 'add_owner', credentialId: second.credentialId })
      await signRecord(ctx, owned, second)
      const remove = { kind: 'remove_owner', credentialId: second.credentialId } as const
      const first = await prepareChange(ctx, owned, remove)
      const signed = { requestId: first.requestId, assertion: owned.owner.assert(first.payload) }
      const passedMs = await refuse(() => submit(ctx, owned, signed))
      const then = later(ctx, passedMs)
      await enclave.moveClock(passedMs)
      const grant = await openActive(then, { ...owned, owner: second })
      if (passedMs === 0) await assert.rejects(submit(ctx, owned, signed), { code: 'signing_request_stale' })
      await changeOwners(then, owned, remove)
      const payment = await pay(owned, grant)
      await cleanUpOnce(later(ctx, 2 * FENCE_MS), 'ownerSignatures')
      await enclave.moveClock(0)
      const { address } = owned.wallet
      assert.deepEqual(
        describeFile(await read(owned, payment)).filter((part) => /^(owners|grant) /.test(part)),
        [`owners ${address}`, `grant ${grant.id}`, `owners ${address}`],
      )
    }
  })

  test('has a change of owners that was recorded with a later request for the same change', async () => {
    const owned = await openRecorded()
    const second = await addWalletOwner(ctx, owned.actor.id)
    const addition = { kind: 'add_owner', credentialId: second.credentialId } as const
    const first = await prepareChange(ctx, owned, addition)
    const again = await prepareChange(later(ctx, SIGNING_REQUEST_MS - 60_000), owned, addition)
    assert.notEqual(again.requestId, first.requestId)
    const before = [{ public_key: owned.owner.publicKeySpki, display_name: null }]
    const catchUp = enclave.proxy.rewrite(/^\/v1\/key_quorums\//, (answer) => ({
      ...answer,
      authorization_keys: before,
    }))
    const { requestId, payload } = first
    const unread = submit(ctx, owned, { requestId, assertion: owned.owner.assert(payload) })
    await assert.rejects(unread, { code: 'enclave_record_differs' })
    catchUp()
    const signed = { requestId: again.requestId, assertion: owned.owner.assert(again.payload) }
    await submit(later(ctx, FENCE_MS), owned, signed)
    await signRecord(ctx, owned, second)
    const grant = await openActive(later(ctx, FENCE_MS), { ...owned, owner: second })
    const payment = await pay(owned, grant)
    await cleanUpOnce(later(ctx, 2 * FENCE_MS), 'ownerSignatures')
    const file = await read(owned, payment)
    assert.equal(file.signatures.filter(({ kind }) => kind === 'owners').length, 1)
  })

  test('of a withdrawal has the signature of the withdrawal, and no leaf of a grant', async () => {
    const owned = await openRecorded()
    await openActive(ctx, owned)
    const { id } = await withdrawOne(ctx, owned)
    await settle(id)
    const file = await read(owned, { id })
    const bound = getEvidence(ctx, { ...placeOf(owned), id, boundAgentId: owned.agentId })
    await assert.rejects(bound, { status: 404, type: 'not_found' })
    assert.deepEqual(describeFile(file), [
      `record ${owned.wallet.address}`,
      `withdrawal ${id}`,
      'payment.decided',
      'payment.ended',
    ])
  })

  test('is not ready while the payment is pending, while the log is behind, and while a signature can be used', async () => {
    const owned = await openRecorded()
    const grant = await openActive(ctx, owned)
    const pending = await seedPayment(ctx, toSeed(owned, grant))
    await logAll(ctx)
    await refuse(owned, pending, { reason: 'payment_pending', retry_at: null }, 5)
    const payment = await seedPayment(ctx, toSeed(owned, grant), { status: 'confirmed' })
    await refuse(owned, payment, { reason: 'log_behind', retry_at: null }, 5)
    await logAll(ctx)
    const error = await getError(owned, payment)
    const { reason, retry_at: retryAt } = error.details as { reason: string; retry_at: string }
    assert.deepEqual([error.status, error.code, reason], [409, 'evidence_not_ready', 'signature_usable'])
    const leftMs = new Date(retryAt).getTime() - ctx.clock.now().getTime()
    assert.ok(leftMs > SIGNING_REQUEST_MS && leftMs <= FENCE_MS + 60_000, retryAt)
    const seconds = error.retryAfterSeconds ?? 0
    assert.ok(seconds * 1_000 >= leftMs && seconds * 1_000 <= leftMs + 2_000)
    await openSignatures()
    await getEvidence(ctx, { ...placeOf(owned), id: payment.id, boundAgentId: null })
  })

  test('is not ready if its leaf is made while it is asked for', async () => {
    const owned = await openRecorded()
    const payment = await pay(owned, await openActive(ctx, owned))
    const db = beforeSlowReads(async () => logAll(ctx))
    const asked = getEvidence({ ...ctx, db }, { ...placeOf(owned), id: payment.id, boundAgentId: null })
    await assert.rejects(asked, { code: 'evidence_not_ready', details: { reason: 'log_behind', retry_at: null } })
  })

  test('is not given out without what has left for another cell while it is read', async () => {
    const owned = await openRecorded()
    const payment = await pay(owned, await openActive(ctx, owned))
    await openSignatures()
    const leave = ['owner_signatures where workspace_id', 'workspaces where id'].map((of) => {
      return `delete from ${of} = '${owned.workspaceId}';`
    })
    const replica = 'set local session_replication_role = replica;'
    const db = beforeSlowReads(async () => readRows(ctx.db, `do $$ begin ${replica} ${leave.join(' ')} end $$`))
    const asked = getEvidence({ ...ctx, db }, { ...placeOf(owned), id: payment.id, boundAgentId: null })
    await assert.rejects(asked, { code: 'workspace_moving' })
  })

  test('is not available if the payment has no leaf and none will be made, or if its leaf says nothing', async () => {
    const owned = await openRecorded()
    const grant = await openActive(ctx, owned)
    const old = await seedPayment(ctx, toSeed(owned, grant), { status: 'confirmed' })
    await readRows(ctx.db, 'delete from log_queue where subject = $1', [old.id])
    await logAll(ctx)
    await unavailable(owned, old)
    // A change that is newer by far waits: the leaf of the old payment is not among those that will be made.
    await seedPayment(later(ctx, 120_000), toSeed(owned, grant))
    await unavailable(owned, old)
    // The row of a payment is missing when the leaf of the decision is made, and there again for that of its end.
    const lost = await seedPayment(ctx, toSeed(owned, grant), { status: 'confirmed' })
    await readRows(ctx.db, "delete from log_queue where subject = $1 and type = 'payment.ended'", [lost.id])
    await readRows(ctx.db, 'update payments set id = id || $2 where id = $1', [lost.id, 'x'])
    await logAll(ctx)
    await readRows(ctx.db, 'update payments set id = $1 where id = $1 || $2', [lost.id, 'x'])
    const queue = "insert into log_queue (log_id, type, subject, at) values ($1, 'payment.ended', $2, now())"
    await readRows(ctx.db, queue, [owned.workspaceId, lost.id])
    await logAll(ctx)
    await unavailable(owned, lost)
  })

  test('is of the own agent only, of this workspace and of this mode', async () => {
    const owned = await openRecorded()
    const grant = await openActive(ctx, owned)
    const { id } = await pay(owned, grant)
    await openSignatures()
    const place = placeOf(owned)
    const stranger = await openOwned(ctx)
    const text = await getEvidence(ctx, { ...place, id, boundAgentId: owned.agentId })
    assert.equal(openEvidence(text).format, 'bursar-evidence/1')
    const refused = { status: 404, type: 'not_found', message: 'No payment has this id in this workspace and mode.' }
    for (const other of [
      { ...place, id: 'pay_x', boundAgentId: null },
      { ...place, mode: 'live', id, boundAgentId: null },
      { ...place, workspaceId: stranger.workspaceId, id, boundAgentId: null },
    ] as const) {
      await assert.rejects(getEvidence(ctx, other), refused)
    }
    const notOwn = { status: 403, code: 'agent_not_authorized' }
    await assert.rejects(getEvidence(ctx, { ...place, id, boundAgentId: 'another' }), notOwn)
  })

  test('tells a credential of one agent nothing about other agents that were resumed with the same signature', async () => {
    const owned = await openRecorded()
    const { workspaceId, mode, actor } = owned
    const other = { ...owned, agentId: agent('another') }
    await createAgent(ctx, { workspaceId, mode, id: other.agentId, actor })
    const [grant] = [await openActive(ctx, owned), await openActive(ctx, other)]
    const { stop } = await stopAgents(ctx, { workspaceId, mode, actor, agentId: null, walletAddress: null })
    await resume(ctx, owned, { stopId: stop?.id ?? assert.fail() })
    const { id } = await pay(owned, grant)
    await openSignatures()
    const refused = { status: 409, code: 'evidence_unavailable', details: { reason: 'names_other_agents' } }
    await assert.rejects(getEvidence(ctx, { ...placeOf(owned), id, boundAgentId: owned.agentId }), refused)
    await getEvidence(ctx, { ...placeOf(owned), id, boundAgentId: null })
    await suspendGrant(ctx, { workspaceId, grantId: grant.id, actor })
    await resume(ctx, owned, { grantId: grant.id })
    const later = await pay(owned, grant)
    await openSignatures()
    await getEvidence(ctx, { ...placeOf(owned), id: later.id, boundAgentId: owned.agentId })
    // A stop says how many grants it suspended.
    await stopAgents(ctx, { workspaceId, mode, actor, agentId: null, walletAddress: null })
    await resume(ctx, owned, { grantId: grant.id })
    const alone = await pay(owned, grant)
    await openSignatures()
    const readStop = async (boundAgentId: string | null) => {
      const text = await getEvidence(ctx, { ...placeOf(owned), id: alone.id, boundAgentId })
      const file = JSON.parse(text) as EvidenceFile
      const leaves = file.logs.flatMap((log) => log.leaves)
      return leaves.find(({ content }) => content.includes('agents.stopped'))?.texts['details']
    }
    assert.equal(await readStop(owned.agentId), null)
    assert.match((await readStop(null)) ?? '', /"grants":2/)
  })

  test('waits for the leaf of what ended its grant, if the log is behind', async () => {
    const owned = await openRecorded()
    const grant = await openActive(ctx, owned)
    const payment = await pay(owned, grant)
    await openSignatures()
    await signChange(ctx, owned, { grantId: grant.id, change: 'revoke' })
    await refuse(owned, payment, { reason: 'log_behind', retry_at: null }, 5)
    assert.equal(describeFile(await read(owned, payment)).at(-1), `grant.revoked ${grant.id}`)
  })

  test('of many payments is proved by the checkpoint of the beginning, although the log grows meanwhile', async () => {
    const owned = await openRecorded()
    const grant = await openActive(ctx, owned)
    const other = await openOther(owned)
    const [first, pending] = [await pay(owned, grant), await seedPayment(ctx, toSeed(owned, grant))]
    const second = await pay(other, await openActive(ctx, other))
    await openSignatures()
    const pages = [[first], [second, first, pending]]
    const payments = async () => pages.shift() ?? null
    const list = await listEvidence(ctx, { ...placeOf(owned), payments })
    const head = JSON.parse((await list.next()) ?? '') as { logs: [EvidenceFile['logs'][number]] }
    const [newer, suspended] = [await pay(owned, grant), { workspaceId: owned.workspaceId, grantId: grant.id }]
    await suspendGrant(ctx, { ...suspended, actor: owned.actor })
    await logAll(ctx)
    pages.push([newer])
    const lines: EvidenceLine[] = []
    for (let text = await list.next(); text !== null; text = await list.next()) {
      lines.push(
        ...text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as EvidenceLine),
      )
    }
    const end = lines.pop()
    assert.equal(end?.left_out, 2)
    // What the payments of each grant have in common, and each payment, the first one twice.
    assert.deepEqual(
      lines.map(({ authority, signatures }) => [authority, signatures.length]),
      [
        ['1', 2],
        ['1', 0],
        ['2', 2],
        ['2', 0],
        ['1', 0],
      ],
    )
    for (const { leaves } of lines) checkLog({ ...head.logs[0], leaves })
  })

  test('says what it does not prove, in the words of the specification', () => {
    const text = readFileSync(new URL('../../../../docs/evidence.md', import.meta.url), 'utf8')
    const [, sentences] = /The sentences of `does_not_prove`:\n\n```\n([^`]+)\n```/.exec(text) ?? []
    assert.deepEqual(DOES_NOT_PROVE, sentences?.split('\n'))
  })

  test('leaves out a signature that is lost, with its leaf', async () => {
    const owned = await openRecorded()
    const grant = await openActive(ctx, owned)
    const payment = await pay(owned, grant)
    await readRows(ctx.db, "update owner_signatures set assertion_sealed = '', assertion = null where subject = $1", [
      grant.id,
    ])
    const file = await read(owned, payment)
    assert.deepEqual(describeFile(file), [`grant.activated ${grant.id}`, 'payment.decided', 'payment.ended'])
  })

  /** Lets the enclave reject what is sent to it, because its clock is ahead. */
  async function refuseChange(send: () => Promise<unknown>): Promise<number> {
    await enclave.moveClock(FENCE_MS)
    await assert.rejects(send(), { name: 'EnclaveRefused' })
    await enclave.moveClock(0)
    return 0
  }

  /** Loses a change on its way to the enclave. Returns after how long it cannot arrive any more. */
  async function loseChange(send: () => Promise<unknown>): Promise<number> {
    enclave.proxy.loseChange()
    await assert.rejects(send(), { name: 'EnclaveUnavailable' })
    return FENCE_MS
  }

  /** Adds another agent to the workspace. */
  async function openOther(owned: Owned): Promise<Owned> {
    const { workspaceId, mode, actor } = owned
    const other = { ...owned, agentId: agent('another') }
    await createAgent(ctx, { workspaceId, mode, id: other.agentId, actor })
    return other
  }

  /** Opens a workspace whose owner has signed the wallet's record. */
  async function openRecorded(): Promise<Owned> {
    const owned = await openOwned(ctx)
    await signRecord(ctx, owned)
    return owned
  }

  async function pay(owned: Owned, grant: Grant, changes: { memo?: string; idempotencyKey?: string } = {}) {
    return await seedPayment(ctx, toSeed(owned, grant), { status: 'confirmed', ...changes })
  }

  /** Returns the database, which does something before each slow read. */
  function beforeSlowReads(act: () => Promise<unknown>): Context['db'] {
    return new Proxy(ctx.db, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return async (...args: unknown[]): Promise<unknown> => {
          if (name === 'readSlow') await act()
          return await (Reflect.apply(member, target, args) as Promise<unknown>)
        }
      },
    })
  }

  async function settle(id: string): Promise<void> {
    await readRows(
      ctx.db,
      `with p as (update payments set status = 'failed', failure_code = 'reverted', settled_at = now() where id = $1
          returning workspace_id, id)
        insert into log_queue (log_id, type, subject, at) select workspace_id, 'payment.ended', id, now() from p`,
      [id],
    )
  }

  /** Makes the leaves and opens the signatures, and returns the file. */
  async function read(owned: Owned, { id }: { readonly id: string }): Promise<EvidenceFile> {
    await logAll(ctx)
    await openSignatures()
    return openEvidence(await getEvidence(ctx, { ...placeOf(owned), id, boundAgentId: null }))
  }

  async function openSignatures(): Promise<void> {
    await logAll(ctx)
    await cleanUpOnce(later(ctx, FENCE_MS), 'ownerSignatures')
  }

  async function getError(owned: Owned, { id }: { readonly id: string }) {
    const asked = getEvidence(ctx, { ...placeOf(owned), id, boundAgentId: null })
    return await asked.then(
      () => assert.fail('there is evidence'),
      (error: { status: number; code: string; details: unknown; retryAfterSeconds?: number }) => error,
    )
  }

  async function refuse(owned: Owned, payment: { id: string }, details: object, seconds: number): Promise<void> {
    const error = await getError(owned, payment)
    assert.deepEqual(
      [error.status, error.code, error.details, error.retryAfterSeconds],
      [409, 'evidence_not_ready', details, seconds],
    )
  }

  async function unavailable(owned: Owned, payment: { id: string }): Promise<void> {
    const { status, code, details } = await getError(owned, payment)
    assert.deepEqual([status, code, details], [409, 'evidence_unavailable', { reason: 'not_logged' }])
  }
})

interface EvidenceLine {
  readonly authority: string
  readonly leaves: EvidenceFile['logs'][number]['leaves']
  readonly signatures: readonly unknown[]
  readonly left_out?: number
}

function placeOf({ workspaceId, mode }: Owned) {
  return { workspaceId, mode }
}

function toSeed({ workspaceId, mode, agentId, wallet }: Owned, grant: Grant) {
  const workspace = { id: workspaceId }
  return { workspace, mode, agentId, wallet: wallet.address, grant } as unknown as Parameters<typeof seedPayment>[1]
}

/** Says what a file contains, in the order of the leaves. A signature is named instead of its leaf. */
function describeFile({ logs }: EvidenceFile): string[] {
  return logs.flatMap(({ leaves }) => {
    return leaves.map(({ content }) => {
      const { type, action, object, kind } = JSON.parse(content) as Record<string, string>
      if (type === 'audit') return `${action} ${object}`
      return type === 'signature' ? `${kind} ${object}` : String(type)
    })
  })
}

function withoutTree({ logs, format, signatures }: EvidenceFile) {
  const leaves = logs.flatMap((log) => log.leaves.map(({ content, position, texts }) => ({ content, position, texts })))
  return { format, signatures, leaves }
}
