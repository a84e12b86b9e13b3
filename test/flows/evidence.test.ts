import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { after, before, describe, test } from 'node:test'
import type { SoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import { readConfig } from '../../server/src/config.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import type { Context } from '../../server/src/domain/context.ts'
import { listEvidence } from '../../server/src/domain/evidence/list-evidence.ts'
import type { Grant } from '../../server/src/domain/grants/grant.ts'
import { suspendGrant } from '../../server/src/domain/grants/suspend-grant.ts'
import { issueKey } from '../../server/src/domain/keys/issue-key.ts'
import { getWalletRecord } from '../../server/src/domain/owners/get-wallet-record.ts'
import { signWalletRecord } from '../../server/src/domain/owners/sign-wallet-record.ts'
import { createPayment } from '../../server/src/domain/payment-requests/create-payment.ts'
import type { Payment } from '../../server/src/domain/payments/payment.ts'
import { walkPayments } from '../../server/src/domain/reports/listing/walk-payments.ts'
import { issueResumeRequest } from '../../server/src/domain/stops/issue-resume-request.ts'
import { resumeGrants } from '../../server/src/domain/stops/resume-grants.ts'
import { challengeOf } from '../../server/src/domain/stops/resume-statement.ts'
import { stopAgents } from '../../server/src/domain/stops/stop-agents.ts'
import { SIGNATURE_FENCE_MARGIN_MS, SIGNING_REQUEST_MS } from '../../server/src/domain/wallets/signing-fence.ts'
import { issueWithdrawalRequest } from '../../server/src/domain/withdrawals/issue-withdrawal-request.ts'
import { submitWithdrawal } from '../../server/src/domain/withdrawals/submit-withdrawal.ts'
import { cleanUpOnce } from '../../server/src/jobs/clean-up.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { createLogger } from '../../server/src/lib/logger.ts'
import { openContext } from '../../server/src/service.ts'
import { microUsdc } from '../../server/src/values/money.ts'
import { parseOwnerKey } from '../../signer/src/evidence/owner-keys.ts'
import { verifyEvidence } from '../../signer/src/evidence/verify-evidence.ts'
import { openVerifiers } from '../evidence/verifiers.ts'
import { openEvidence } from '../support/context/evidence-file.ts'
import { makeTerms, openActive, openNext, openOwned, signChange, type Owned } from '../support/context/grant-fixture.ts'
import { later } from '../support/context/moved-clock.ts'
import { changeOwners } from '../support/context/owner-fixture.ts'
import { addWalletOwner } from '../support/context/people.ts'
import { paymentRequest, RECIPIENT } from '../support/context/seed.ts'
import { call, send } from '../support/http-client.ts'
import { openSharedSandboxFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'
import { createResource } from '../support/sandbox/seller.ts'
import { waitFor } from '../support/wait-for.ts'

const FENCE_MS = SIGNING_REQUEST_MS + SIGNATURE_FENCE_MARGIN_MS

/**
 * Evidence of real payments, verified with the program that anybody can use. The test acts as the owner with the
 * service's own operations, and reads the evidence over `/v1`.
 */
describe('the evidence of payments in the sandbox', () => {
  let fixture: SandboxFixture
  let ctx: Context
  let close: () => Promise<void>
  before(async () => {
    fixture = await openSharedSandboxFixture()
    const opened = openContext(readConfig(fixture.environment()), {
      clock: createClock(),
      logger: createLogger('silent'),
    })
    ctx = opened.context
    close = () => opened.close()
  })
  after(() => close())

  test('proves a transfer, with the key of the owner and a node of the chain', async () => {
    const owned = await openFunded()
    const grant = await openActive(ctx, owned, makeTerms(5, { recipientAllowlist: [RECIPIENT] }))
    const payment = await pay(owned, grant, { memo: 'invoice 7' })
    const text = await read(owned, payment)
    await proves(text, owned)
    // A stranger's key, or none, does not show that the owner signed.
    const stranger = await addWalletOwner(ctx, owned.actor.id)
    const other = await verify(text, stranger)
    assert.equal(other.ownerSigned.answer, 'no')
  })

  test('proves a purchase', async () => {
    const owned = await openFunded()
    const terms = makeTerms(5, { x402: true })
    const grant = await openActive(ctx, owned, terms)
    const { url } = await createResource(fixture)
    const key = await makeKey(owned)
    const body = { url, max_amount_usdc: '1', agent_id: owned.agentId, wallet: owned.wallet.address }
    const bought = await call(fixture.baseUrl, 'POST', '/v1/x402/pay', { key, body: { ...body, idempotency_key: 'k' } })
    assert.equal(bought.status, 200, bought.text)
    assert.equal(grant.status, 'active')
    const text = await read(owned, bought.body.payment)
    await proves(text, owned)
    const answered = openEvidence(text).logs[0]?.leaves.find(({ content }) => content.includes('"purchase.answered"'))
    assert.deepEqual(answered?.texts, { offer: null, receipt: null, resource_url: url })
  })

  test('proves a withdrawal', async () => {
    const owned = await openFunded()
    const { workspaceId, mode, owner, actor, wallet } = owned
    const amount = { amountMicro: microUsdc(1_000_000n), amountUsdc: '1' }
    const asked = { workspaceId, mode, wallet: wallet.address, to: RECIPIENT, amount, actor }
    const { requestId, signingRequest } = await issueWithdrawalRequest(ctx, asked)
    const assertion = owner.assert(signingRequest.payload)
    const payment = await submitWithdrawal(ctx, { workspaceId, requestId, assertion, actor })
    await proves(await read(owned, payment), owned)
  })

  test('proves payments of a grant that was suspended or stopped, and resumed', async () => {
    const owned = await openFunded()
    const { workspaceId, mode, actor } = owned
    const grant = await openActive(ctx, owned)
    await suspendGrant(ctx, { workspaceId, grantId: grant.id, actor })
    await resume(owned, { grantId: grant.id })
    const resumed = await pay(owned, grant)
    const { stop } = await stopAgents(ctx, { workspaceId, mode, actor, agentId: null, walletAddress: null })
    await resume(owned, { stopId: stop?.id ?? assert.fail() })
    const released = await pay(owned, grant)
    await proves(await read(owned, resumed), owned)
    await proves(await read(owned, released), owned)
  })

  test('proves payments of a grant that was replaced, and of the one that replaced it', async () => {
    const owned = await openFunded()
    const old = await openActive(ctx, owned)
    const first = await pay(owned, old)
    const next = await openNext(ctx, owned, old)
    await signChange(ctx, owned, { grantId: next.id, change: 'activate' })
    const second = await pay(owned, next, { amountUsdc: '2' })
    await proves(await read(owned, first), owned)
    await proves(await read(owned, second), owned)
  })

  test('proves a payment of a grant that a later owner signed, with the key of the first one', async () => {
    const owned = await openFunded()
    const second = await addWalletOwner(ctx, owned.actor.id)
    await changeOwners(ctx, owned, { kind: 'add_owner', credentialId: second.credentialId })
    const heir = { ...owned, owner: second }
    await signRecord(heir)
    const grant = await openActive(ctx, heir)
    const text = await read(owned, await pay(owned, grant))
    await proves(text, owned)
    await proves(text, heir)
  })

  test('proves all payments of a period at once, and counts those that it leaves out', async () => {
    const owned = await openFunded()
    const { workspaceId, mode, actor } = owned
    const old = await openActive(ctx, owned)
    const payments = [await pay(owned, old), await pay(owned, old)]
    await suspendGrant(ctx, { workspaceId, grantId: old.id, actor })
    await resume(owned, { grantId: old.id })
    payments.push(await pay(owned, old))
    const next = await openNext(ctx, owned, old)
    await signChange(ctx, owned, { grantId: next.id, change: 'activate' })
    payments.push(await pay(owned, next))
    for (const payment of payments) await read(owned, payment)
    // Nobody opens the signature of this withdrawal, so there is no evidence of it yet.
    const amount = { amountMicro: microUsdc(1_000_000n), amountUsdc: '1' }
    const asked = { workspaceId, mode, wallet: owned.wallet.address, to: RECIPIENT, amount, actor }
    const { requestId, signingRequest } = await issueWithdrawalRequest(ctx, asked)
    const assertion = owned.owner.assert(signingRequest.payload)
    await submitWithdrawal(ctx, { workspaceId, requestId, assertion, actor })

    const text = await exportAll(owned)
    const verifiers = openVerifiers()
    try {
      const { rpc_url: rpc } = fixture.sandbox.facts.chains.test
      const verdict = await verifiers.verify(text, { ownerKeys: [owned.owner.publicKeySpki], rpc })
      const yes = { owner_signed: 'yes', within_limits: 'yes', on_chain: 'yes' }
      const proved = payments.map(({ id }) => ({ payment: id, ...yes })).toReversed()
      assert.deepEqual(verdict, { valid: true, left_out: 1, payments: proved })
    } finally {
      await verifiers.close()
    }
    // The two grants, and the old one after its suspension, are in it once each.
    const shared = text.split('\n').filter((line) => line.includes('"signatures":[{'))
    assert.equal(shared.length, 3)
  })

  /** Opens a workspace whose wallet has 100 USDC, and whose owner has signed the wallet's record. */
  async function openFunded(): Promise<Owned> {
    const owned = await openOwned(ctx)
    await signRecord(owned)
    await fixture.control('/faucet', { mode: 'test', address: owned.wallet.address, amount_usdc: '100' })
    return owned
  }

  async function signRecord({ workspaceId, mode, wallet, owner, actor }: Owned): Promise<void> {
    const place = { workspaceId, mode, address: wallet.address }
    const { statement } = await getWalletRecord(ctx, place)
    await signWalletRecord(ctx, { ...place, assertion: owner.assert(statement), actor })
  }

  async function pay(
    { workspaceId, mode, agentId, wallet }: Owned,
    grant: Grant,
    changes: { readonly memo?: string; readonly amountUsdc?: string } = {},
  ): Promise<Payment> {
    const seeded = { workspace: { id: workspaceId }, mode, agentId, wallet: wallet.address, grant }
    const request = paymentRequest(seeded as unknown as Parameters<typeof paymentRequest>[0], changes)
    const outcome = await createPayment(ctx, request)
    assert.ok('payment' in outcome, inspect(outcome))
    return outcome.payment
  }

  async function resume(
    { workspaceId, owner, actor }: Owned,
    asked: { readonly stopId: string } | { readonly grantId: string },
  ): Promise<void> {
    const { credentialId } = owner
    const { payload, expiresAt } = await issueResumeRequest(ctx, { workspaceId, credentialId, ...asked })
    await resumeGrants(ctx, { workspaceId, ...asked, expiresAt, assertion: owner.assert(challengeOf(payload)), actor })
  }

  async function makeKey({ workspaceId, mode }: Owned): Promise<string> {
    return (await issueKey(ctx, { workspaceId, mode, actor: OPERATOR })).secret
  }

  /** Waits until the payment has ended and its leaves are in the log, and opens the signatures. */
  async function read(owned: Owned, { id }: { readonly id: string }): Promise<string> {
    const key = await makeKey(owned)
    const answer = await waitFor(`the evidence of ${id}`, async () => {
      await cleanUpOnce(later(ctx, FENCE_MS), 'ownerSignatures')
      const got = await send(fixture.baseUrl, { path: `/v1/payments/${id}/evidence`, key })
      return got.status === 200 ? got : got.status === 409 ? null : assert.fail(got.text)
    })
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(answer.headers['content-disposition'], `attachment; filename="evidence-${id}.json"`)
    assert.equal(answer.headers['cache-control'], 'no-store')
    return answer.text
  }

  async function verify(text: string, owner: SoftwarePasskey) {
    const trust = { ownerKeys: [keyOf(owner)], logKeys: [], node }
    const result = await verifyEvidence(Buffer.from(text), trust)
    assert.ok(result.kind === 'valid', inspect(result))
    return result
  }

  async function proves(text: string, { owner }: Owned): Promise<void> {
    const result = await verify(text, owner)
    assert.deepEqual(answersOf(result), ['yes', 'yes', 'yes'], inspect(result))
  }

  async function node(method: string, params: readonly string[]): Promise<unknown> {
    const { rpc_url: url } = fixture.sandbox.facts.chains.test
    const body = { jsonrpc: '2.0', id: 1, method, params }
    const answer = await call(url, 'POST', '/', { body })
    return (answer.body as { readonly result?: unknown }).result
  }

  async function exportAll({ workspaceId, mode }: Owned): Promise<string> {
    const signal = new AbortController().signal
    const walk = await walkPayments(ctx, { workspaceId, mode, filter: {}, signal })
    const list = await listEvidence(ctx, { workspaceId, mode, payments: () => walk.next() })
    let text = ''
    for (let lines = await list.next(); lines !== null; lines = await list.next()) text += lines
    return text
  }
})

function keyOf({ publicKeySpki }: SoftwarePasskey): string {
  return parseOwnerKey(publicKeySpki) ?? assert.fail()
}

type Answers = Record<'ownerSigned' | 'withinLimits' | 'onChain', { readonly answer: string }>

function answersOf({ ownerSigned, withinLimits, onChain }: Answers): string[] {
  return [ownerSigned, withinLimits, onChain].map(({ answer }) => answer)
}
