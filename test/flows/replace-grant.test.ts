import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readConfig } from '../../server/src/config.ts'
import type { Context } from '../../server/src/domain/context.ts'
import { getGrantSummary } from '../../server/src/domain/grants/queries.ts'
import type { Grant } from '../../server/src/domain/grants/grant.ts'
import { createPayment, type PaymentOutcome } from '../../server/src/domain/payment-requests/create-payment.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { createLogger } from '../../server/src/lib/logger.ts'
import { openContext } from '../../server/src/service.ts'
import { formatAmount, microUsdc, parseAmount } from '../../server/src/values/money.ts'
import { expectPayment, expectRefusal } from '../support/context/expect-outcome.ts'
import {
  changeUnsigned,
  makeTerms,
  openActive,
  openNext,
  openOwned,
  signAndCrash,
  signChange,
  type Owned,
} from '../support/context/grant-fixture.ts'
import { RECIPIENT } from '../support/context/seed.ts'
import { openSharedSandboxFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'

/**
 * While a grant is replaced, the enclave has an old and a new policy. These tests use a real enclave and a real chain,
 * so they show which of the two the enclave enforces (D14, D16).
 */
describe('a payment while its policy is replaced', () => {
  let fixture: SandboxFixture
  let ways: ReturnType<typeof openContext>
  let ctx: Context
  before(async () => {
    fixture = await openSharedSandboxFixture()
    ways = openContext(readConfig(fixture.environment()), { clock: createClock(), logger: createLogger('silent') })
    ctx = ways.context
  })
  after(async () => {
    await ways.close()
  })

  test('by a narrower one is bound by the old one, then by both, then by the new one, and the spent amount stays', async () => {
    const owned = await openFunded()
    const old = await openActive(ctx, owned, makeTerms(10))
    const next = await openNext(ctx, owned, old, makeTerms(1, { dailyCapMicro: microUsdc(7_000_000n) }))
    assert.equal(expectPayment(await pay(owned, '5')).status, 'pending')

    // The enclave has made the change, but the service crashed before it recorded the change.
    await signAndCrash(ctx, owned, { grantId: next.id, change: 'activate' })
    expectRefusal(await pay(owned, '10.000001'), 'amount_too_large')
    const { status, failureCode } = expectPayment(await pay(owned, '1.000001'))
    assert.deepEqual([status, failureCode], ['failed', 'enclave_refused'])
    const paid = expectPayment(await pay(owned, '1'))
    assert.deepEqual([paid.status, paid.grantId], ['pending', old.id])

    await changeUnsigned(ctx, owned, { grantId: next.id, change: 'activate' })
    assert.equal(await readSpent(owned, next), '6')
    expectRefusal(await pay(owned, '1.000001'), 'amount_too_large')
    const last = expectPayment(await pay(owned, '1'))
    assert.deepEqual([last.status, last.grantId], ['pending', next.id])
    expectRefusal(await pay(owned, '0.000001'), 'daily_cap_exceeded')
  })

  test('by a wider one is bound by the old one until the new one is recorded', async () => {
    const owned = await openFunded()
    const old = await openActive(ctx, owned, makeTerms(1))
    const next = await openNext(ctx, owned, old, makeTerms(3))
    await signAndCrash(ctx, owned, { grantId: next.id, change: 'activate' })
    expectRefusal(await pay(owned, '3'), 'amount_too_large')
    await changeUnsigned(ctx, owned, { grantId: next.id, change: 'activate' })
    const paid = expectPayment(await pay(owned, '3'))
    assert.deepEqual([paid.status, paid.grantId], ['pending', next.id])
  })

  test('that was allowed, but reaches the enclave after the signature, is bound by the new policy there', async () => {
    const owned = await openFunded()
    const old = await openActive(ctx, owned, makeTerms(10))
    const next = await openNext(ctx, owned, old, makeTerms(1))
    const hold = fixture.enclave.hold('request')
    const under = pay(owned, '5')
    await hold.held
    await signChange(ctx, owned, { grantId: next.id, change: 'activate' })
    assert.equal(await hold.release(), 400)
    const { status, failureCode, grantId } = expectPayment(await under)
    assert.deepEqual([status, failureCode, grantId], ['failed', 'enclave_refused', old.id])
    assert.equal(await readSpent(owned, next), '0')
    assert.equal(expectPayment(await pay(owned, '1')).status, 'pending')
  })

  async function openFunded(): Promise<Owned> {
    const owned = await openOwned(ctx)
    const { wallet, mode } = owned
    await fixture.control('/faucet', { mode, address: wallet.address, amount_usdc: '100' })
    return owned
  }

  function pay({ workspaceId, mode, agentId, wallet }: Owned, amountUsdc: string): Promise<PaymentOutcome> {
    const amountMicro = parseAmount(amountUsdc) ?? assert.fail(amountUsdc)
    const what = { to: RECIPIENT, amountMicro, amountUsdc, memo: null, idempotencyKey: null }
    const credential = { credentialId: null, requestId: null, boundAgentId: null }
    return createPayment(ctx, { workspaceId, mode, agentId, wallet: wallet.address, ...what, ...credential })
  }

  async function readSpent({ workspaceId, actor }: Owned, { id: grantId }: Pick<Grant, 'id'>): Promise<string | null> {
    const { spent24hMicro } = await getGrantSummary(ctx, { workspaceId, grantId, userId: actor.id })
    return spent24hMicro === null ? null : formatAmount(spent24hMicro)
  }
})
