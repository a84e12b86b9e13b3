import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { RECIPIENT, seedWallet } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { seedPayment } from '../../../../test/support/context/payment-rows.ts'
import {
  issueWithdrawal,
  openWithdrawer,
  type Withdrawer,
} from '../../../../test/support/context/withdrawal-fixture.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { toSpki } from '../wallets/owner-passkey.ts'
import { ZERO_ADDRESS } from '../../values/address.ts'
import type { Context } from '../context.ts'
import { WITHDRAWAL_REQUEST_MS } from '../payments/payment.ts'

describe('issueWithdrawalRequest', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('the request names the passkeys that may sign it, and says what the wallet has', async () => {
    const withdrawer = await openWithdrawer(ctx)
    setBalance(withdrawer, 10_000_000n)
    await seedPayment(ctx, withdrawer.seeded, { amountUsdc: '2' })
    const before = given.clock.now()
    const issued = await issueWithdrawal(ctx, withdrawer, { amountUsdc: '1.50' })
    const end = given.clock.now()
    const { signingRequest, amountUsdc, balanceMicro, pendingMicro } = issued
    assert.deepEqual([amountUsdc, balanceMicro, pendingMicro], ['1.50', 10_000_000n, 2_000_000n])
    const { credentialId, publicKeyCose } = withdrawer.owner
    assert.deepEqual(signingRequest.credentials, [
      { id: credentialId, publicKey: toSpki(publicKeyCose), name: 'Wallet passkey' },
    ])
    assert.equal(signingRequest.before, null)
    const issuedMs = signingRequest.expiresAt.getTime() - WITHDRAWAL_REQUEST_MS
    assert.ok(issuedMs >= before.getTime() && issuedMs <= end.getTime())
  })

  test('everything is what pending payments and withdrawals have not reserved, to the last micro-USDC', async () => {
    const withdrawer = await openWithdrawer(ctx)
    setBalance(withdrawer, 10_000_001n)
    await seedPayment(ctx, withdrawer.seeded, { amountUsdc: '2' })
    await seedPayment(ctx, withdrawer.seeded, { kind: 'withdrawal', amountUsdc: '0.5' })
    const issued = await issueWithdrawal(ctx, withdrawer, { amountUsdc: null })
    assert.equal(issued.amountUsdc, '7.500001')
    await seedPayment(ctx, withdrawer.seeded, { amountUsdc: '7.500001' })
    await assert.rejects(issueWithdrawal(ctx, withdrawer, { amountUsdc: null }), {
      status: 403,
      code: 'insufficient_balance',
      details: { balance_usdc: '10.000001', pending_usdc: '10.000001', requested: '0.000001' },
    })
  })

  test('a request that fails a check leaves nothing behind', async () => {
    const withdrawer = await openWithdrawer(ctx)
    const other = await openWithdrawer(ctx)
    const { seeded } = withdrawer
    setBalance(withdrawer, 1_000_000n)
    const refusals = [
      [{ to: ZERO_ADDRESS }, { status: 400, code: 'address_invalid' }],
      [{ to: seeded.wallet }, { status: 400, code: 'address_invalid' }],
      [{ to: ctx.chains.test.usdc }, { status: 400, code: 'address_invalid' }],
      [{ wallet: other.seeded.wallet }, { status: 404, code: 'wallet_not_found' }],
      [{ wallet: RECIPIENT }, { status: 404, code: 'wallet_not_found' }],
      [{ amountUsdc: '1.000001' }, { status: 403, code: 'insufficient_balance' }],
    ] as const
    for (const [wanted, expected] of refusals) {
      await assert.rejects(issueWithdrawal(ctx, withdrawer, wanted), expected)
    }
    const live = { ...withdrawer, seeded: { ...seeded, mode: 'live' as const } }
    await assert.rejects(issueWithdrawal(ctx, live), { status: 404, code: 'wallet_not_found' })
    given.chains.test.down = true
    await assert.rejects(issueWithdrawal(ctx, withdrawer), { name: 'ChainUnavailable' })
    given.chains.test.down = false
    const unsigned = { ...ctx, signer: null }
    await assert.rejects(issueWithdrawal(unsigned, withdrawer), { status: 409, code: 'signer_not_configured' })
    assert.deepEqual(await countTraces(withdrawer), { requests: 0, entries: 0, payments: 0 })
  })

  test('a wallet without grants can be withdrawn from, to another wallet of the workspace', async () => {
    const withdrawer = await openWithdrawer(ctx)
    const to = await seedWallet(ctx, withdrawer.seeded)
    await readRows(ctx.db, "update grants set status = 'revoked', revoked_at = activated_at where workspace_id = $1", [
      withdrawer.seeded.workspace.id,
    ])
    assert.equal((await issueWithdrawal(ctx, withdrawer, { to })).amountUsdc, '1')
  })

  function setBalance({ seeded }: Withdrawer, micro: bigint): void {
    given.chains.test.balances.set(seeded.wallet.toLowerCase(), micro)
  }

  async function countTraces({ seeded }: Withdrawer): Promise<Record<string, number>> {
    const text = `select (select count(*) from owner_requests where workspace_id = $1) as requests,
      (select count(*) from audit_entries where log_id = $1 and action like 'withdrawal.%') as entries,
      (select count(*) from payments where workspace_id = $1) as payments`
    const [row = {}] = await readRows(ctx.db, text, [seeded.workspace.id])
    return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]))
  }
})
