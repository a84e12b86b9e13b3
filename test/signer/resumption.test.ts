import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { canonicalJson, type Json } from '../../signer/src/canonical-json.ts'
import { checkExpiry } from '../../signer/src/check-request.ts'
import { decodeRequest } from '../../signer/src/decode/request.ts'
import { decodeResumption } from '../../signer/src/decode/resumption.ts'
import { formatTime } from '../../signer/src/describe/format.ts'
import { describeResumption } from '../../signer/src/describe/describe-resumption.ts'
import type { Claims } from '../../signer/src/read-message.ts'
import type { Grant } from '../../server/src/domain/grants/grant.ts'
import { formatStatement } from '../../server/src/domain/stops/resume-statement.ts'
import { microUsdc } from '../../server/src/values/money.ts'
import { RECIPIENT } from '../support/context/seed.ts'
import { NOW } from './sample-requests.ts'

const EXPIRES_AT = new Date(NOW.getTime() + 5 * 60_000)
const CLAIMS: Claims = {
  workspace: null,
  walletName: null,
  agentName: null,
  addressNames: new Map([[RECIPIENT.toLowerCase(), 'Treasury']]),
  keyNames: new Map(),
  dailyLimit: null,
  dailyLimitBefore: null,
  before: undefined,
}

const grant = (change: Partial<Grant> = {}): Grant => ({
  ...{ id: 'grt_1', workspaceId: 'acc_1', mode: 'test', agentId: 'buyer', walletAddress: RECIPIENT },
  ...{ maxPerTxMicro: microUsdc(1_500_000n), dailyCapMicro: microUsdc(10_000_000n), recipientAllowlist: [] },
  ...{ contractAllowlist: [RECIPIENT], expiresAt: null, x402: false, status: 'active', slot: 1, signingRequest: null },
  ...{ createdAt: NOW, activatedAt: NOW, suspendedAt: NOW, revokedAt: null, replaces: null, replacedBy: null },
  ...{ activatedBy: null, createdBy: null },
  ...change,
})

const format = (...grants: readonly Grant[]): Uint8Array =>
  formatStatement(grants, { workspaceId: 'acc_1', stopId: 'stp_1', expiresAt: EXPIRES_AT })

function read(payload: Uint8Array) {
  return decodeResumption(payload) ?? assert.fail('this resumes no grants')
}

describe('the statement that resumes grants, as the signer page reads it', () => {
  test('is decoded and shown with every grant, its limits and its wallet', () => {
    const other = grant({ agentId: '“x”\u202e', recipientAllowlist: [RECIPIENT], x402: true, expiresAt: EXPIRES_AT })
    const shown = describeResumption(read(format(grant(), other)), CLAIMS)
    assert.equal(shown.title, 'Resume 2 grants')
    const [wallet] = shown.facts
    assert.deepEqual(wallet?.lines, [
      { text: RECIPIENT.toLowerCase(), claim: 'Treasury' },
      { text: 'Agent \u2068“buyer”\u2069: up to 1.50 USDC in a payment, 10.00 USDC in 24 hours, to anybody' },
      {
        text: `Agent \u2068“’x’”\u2069: up to 1.50 USDC in a payment, 10.00 USDC in 24 hours, to 1 recipient, purchases allowed, until ${formatTime(EXPIRES_AT)}`,
      },
    ])
  })

  test('says how many grants it does not list', () => {
    const many = Array.from({ length: 201 }, (_, index) => grant({ id: `grt_${index}` }))
    const { facts } = describeResumption(read(format(...many)), CLAIMS)
    assert.deepEqual(facts.at(-1)?.lines, [{ text: '1 more grant, which is not listed here' }])
  })

  test('covers all terms of each grant, and when it was suspended', () => {
    const base = format(grant())
    const changes: readonly Partial<Grant>[] = [
      { recipientAllowlist: [RECIPIENT] },
      { dailyCapMicro: microUsdc(11_000_000n) },
      { suspendedAt: EXPIRES_AT },
      { contractAllowlist: [] },
      { x402: true },
    ]
    for (const change of changes) assert.notDeepEqual(format(grant(change)), base, JSON.stringify(Object.keys(change)))
  })

  test('is refused if it has another member, is not canonical, has expired or is valid for too long', () => {
    const statement = JSON.parse(Buffer.from(format(grant())).toString()) as { readonly [member: string]: Json }
    const encode = (value: Json) => Buffer.from(canonicalJson(value))
    assert.throws(() => decodeResumption(encode({ ...statement, more: true })), { code: 'request_unknown' })
    assert.throws(() => decodeResumption(encode({ ...statement, grants: [] })), { code: 'request_unknown' })
    const others = [encode({ ...statement, bursar: 'other' }), Buffer.from(JSON.stringify(statement, null, 1))]
    for (const other of others) assert.equal(decodeResumption(other), null)
    assert.throws(() => decodeRequest(format(grant())), { code: 'request_unknown' }, 'it is no request')
    const resumption = read(format(grant()))
    checkExpiry(resumption, NOW)
    assert.throws(() => checkExpiry(resumption, EXPIRES_AT), { code: 'request_expired' })
    const early = new Date(NOW.getTime() - 15 * 60_000)
    assert.throws(() => checkExpiry(resumption, early), { code: 'request_unknown' })
  })
})
