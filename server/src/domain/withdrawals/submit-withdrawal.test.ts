import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { readAudit } from '../../../../test/support/context/audit.ts'
import { expectPayment, expectRefusal } from '../../../../test/support/context/expect-outcome.ts'
import { seedPayment } from '../../../../test/support/context/payment-rows.ts'
import { paymentRequest, RECIPIENT } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import {
  issueWithdrawal,
  openWithdrawer,
  signWithdrawal,
  withdraw,
} from '../../../../test/support/context/withdrawal-fixture.ts'
import {
  listEventTypes,
  openConnections,
  readAllowance,
  readRows,
} from '../../../../test/support/database/read-rows.ts'
import { startEnclaveProxy } from '../../../../test/support/wires/enclave-proxy.ts'
import { decodeRequest } from '../../../../signer/src/decode/request.ts'
import type { Context } from '../context.ts'
import { suspendGrant } from '../grants/suspend-grant.ts'
import { createPayment } from '../payment-requests/create-payment.ts'
import { getPayment } from '../payments/get-payment.ts'
import { WITHDRAWAL_REQUEST_MS, type Payment } from '../payments/payment.ts'
import { settlePayments } from '../payments/settle-payments.ts'
import { monthOf } from '../plans/plan.ts'
import { setAllowance } from '../plans/plans-store.ts'
import { submitWithdrawal } from './submit-withdrawal.ts'

const CONFIRMATIONS = 3

describe('submitWithdrawal', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext((config) => {
      const test = { ...config.chains.test, confirmations: CONFIRMATIONS }
      return { ...config, chains: { ...config.chains, test } }
    })
    ctx = given.context
  })
  beforeEach(() => {
    given.clock.setOffset(0)
    given.enclave.behave = () => 'sign'
    given.enclave.blind = false
    given.chains.test.head = 100n
    given.chains.test.down = false
  })
  after(() => given.close())

  test('a signed withdrawal is recorded and sent as exactly what the signer page shows', async () => {
    const withdrawer = await openWithdrawer(ctx)
    const { seeded, actor } = withdrawer
    const issued = await issueWithdrawal(ctx, withdrawer, { amountUsdc: '2.50' })
    const shown = decodeRequest(issued.signingRequest.payload)
    assert.ok(shown.kind === 'transfer')
    assert.deepEqual(
      [shown.transfer.from.toLowerCase(), shown.transfer.to, shown.transfer.amount, shown.expiresAt],
      [seeded.wallet.toLowerCase(), RECIPIENT.toLowerCase(), 2_500_000n, issued.signingRequest.expiresAt],
    )

    const payment = await signWithdrawal(ctx, withdrawer, issued)
    const { kind, status, agentId, grantId, amountUsdc, to, attempt, allowanceMonth } = payment
    assert.deepEqual(
      { kind, status, agentId, grantId, amountUsdc, to, attempt, allowanceMonth },
      {
        ...{ kind: 'withdrawal', status: 'pending', agentId: null, grantId: null, amountUsdc: '2.50', to: RECIPIENT },
        attempt: 1,
        allowanceMonth: null,
      },
    )
    assert.equal(payment.txHash, given.enclave.accepted.get(payment.id))
    const [sent, ...others] = given.enclave.requests.filter(({ referenceId }) => referenceId === payment.id)
    assert.deepEqual(others, [])
    assert.equal(sent?.expiry, shown.expiresAt.getTime())
    assert.equal(sent.idempotencyKey, `${seeded.workspace.id}:test:${payment.id}:1`)

    assert.deepEqual(await listEventTypes(ctx.db, seeded.workspace.id), [])
    const by = { actor_kind: 'user', actor_id: actor.id, subject: payment.id }
    const details = { mode: 'test', wallet: seeded.wallet, to: RECIPIENT, amount_usdc: '2.50' }
    assert.deepEqual((await readAudit(ctx.db, seeded.workspace.id)).slice(-2), [
      { ...by, action: 'withdrawal.requested', details },
      {
        ...by,
        action: 'withdrawal.submitted',
        details: { ...details, credential_id: withdrawer.owner.credentialId },
      },
    ])
  })

  test('the chain confirms a withdrawal once; the audit log says so, and no event is sent', async () => {
    const { seeded, payment } = await openSent()
    mine(payment, 98n)
    const processes = [ctx, given.openAnother()] as const
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        settlePayments(processes[index % 2 === 0 ? 0 : 1], { mode: 'test', payments: [payment] }),
      ),
    )
    assert.equal((await getPayment(ctx, payment)).status, 'confirmed')
    const details = { mode: 'test', wallet: seeded.wallet, tx_hash: payment.txHash }
    assert.deepEqual(await readEnds(payment), [{ action: 'withdrawal.confirmed', actor_kind: 'operator', details }])
    assert.deepEqual(await listEventTypes(ctx.db, seeded.workspace.id), [])
  })

  test('a withdrawal that is reverted fails, and no longer counts against the balance', async () => {
    const { withdrawer, payment } = await openSent({ balanceMicro: 1_000_000n })
    await assert.rejects(issueWithdrawal(ctx, withdrawer), { code: 'insufficient_balance' })
    mine(payment, 98n, { reverted: true })
    await settlePayments(ctx, { mode: 'test', payments: [payment] })
    const { status, failureCode } = await getPayment(ctx, payment)
    assert.deepEqual([status, failureCode], ['failed', 'reverted'])
    assert.deepEqual(
      (await readEnds(payment)).map((row) => [row['action'], row['details']]),
      [
        [
          'withdrawal.failed',
          { mode: 'test', wallet: payment.walletAddress, tx_hash: payment.txHash, failure_code: 'reverted' },
        ],
      ],
    )
    await issueWithdrawal(ctx, withdrawer)
  })

  test('a reorganization takes the block of a withdrawal away again, until it is in another one', async () => {
    const { payment } = await openSent()
    mine(payment, 100n)
    await settlePayments(ctx, { mode: 'test', payments: [payment] })
    assert.equal((await getPayment(ctx, payment)).minedBlock, 100n)
    given.chains.test.reorganize(1)
    await settlePayments(ctx, { mode: 'test', payments: [await getPayment(ctx, payment)] })
    const dropped = await getPayment(ctx, payment)
    assert.deepEqual([dropped.status, dropped.minedBlock], ['pending', null])
    mine(payment, 101n)
    given.chains.test.head = 103n
    await settlePayments(ctx, { mode: 'test', payments: [dropped] })
    assert.equal((await getPayment(ctx, payment)).status, 'confirmed')
  })

  test('a request that is submitted again, even after its expiry, returns its payment and sends nothing', async () => {
    const withdrawer = await openWithdrawer(ctx)
    const issued = await issueWithdrawal(ctx, withdrawer)
    const first = await signWithdrawal(ctx, withdrawer, issued)
    given.clock.setOffset(2 * WITHDRAWAL_REQUEST_MS)
    const second = await signWithdrawal(ctx, withdrawer, issued)
    assert.equal(second.id, first.id)
    assert.equal(countSent(first), 1)
  })

  test('of 20 concurrent submissions of one request in two processes, one is sent, and all return the same payment', async () => {
    const withdrawer = await openWithdrawer(ctx)
    const issued = await issueWithdrawal(ctx, withdrawer)
    const processes = [ctx, given.openAnother()] as const
    await openConnections(processes[0].db, processes[1].db)
    const payments = await Promise.all(
      Array.from({ length: 20 }, (_, index) => signWithdrawal(processes[index % 2 === 0 ? 0 : 1], withdrawer, issued)),
    )
    const [first] = payments
    assert.ok(first !== undefined)
    assert.equal(new Set(payments.map(({ id }) => id)).size, 1)
    assert.equal(countSent(first), 1)
    assert.equal((await listPayments(withdrawer.seeded.workspace.id)).length, 1)
  })

  test('a signature by the sign-in passkey, by another owner or over another withdrawal is rejected, and records nothing', async () => {
    const withdrawer = await openWithdrawer(ctx)
    const other = await openWithdrawer(ctx)
    const issued = await issueWithdrawal(ctx, withdrawer)
    const older = await issueWithdrawal(ctx, withdrawer, { amountUsdc: '3' })
    const sent = given.enclave.requests.length
    for (const passkey of [withdrawer.signInPasskey, other.owner]) {
      await assert.rejects(signWithdrawal(ctx, withdrawer, issued, passkey), { status: 400, code: 'signature_invalid' })
    }
    const mixed = { ...issued, signingRequest: older.signingRequest }
    await assert.rejects(signWithdrawal(ctx, withdrawer, mixed), { status: 409, code: 'signing_request_stale' })
    const { seeded, owner, actor } = withdrawer
    const assertion = owner.assert(issued.signingRequest.payload)
    const signature = `${assertion.response.signature.slice(0, -6)}AAAAAA`
    const tampered = { ...assertion, response: { ...assertion.response, signature } }
    await assert.rejects(
      submitWithdrawal(ctx, {
        workspaceId: seeded.workspace.id,
        requestId: issued.requestId,
        assertion: tampered,
        actor,
      }),
      { status: 400, code: 'signature_invalid' },
    )
    assert.deepEqual(await listPayments(seeded.workspace.id), [])
    assert.equal(given.enclave.requests.length, sent)
    assert.equal((await signWithdrawal(ctx, withdrawer, issued)).status, 'pending', 'the request is still usable')
  })

  test('a request of another workspace, and an unknown one, are not found', async () => {
    const withdrawer = await openWithdrawer(ctx)
    const other = await openWithdrawer(ctx)
    const issued = await issueWithdrawal(ctx, withdrawer)
    const assertion = withdrawer.owner.assert(issued.signingRequest.payload)
    for (const [workspaceId, requestId] of [
      [other.seeded.workspace.id, issued.requestId],
      [withdrawer.seeded.workspace.id, `owr_${'0'.repeat(26)}`],
      [withdrawer.seeded.workspace.id, ''],
    ] as const) {
      const asked = { workspaceId, requestId, assertion, actor: other.actor }
      await assert.rejects(submitWithdrawal(ctx, asked), { status: 404, code: 'withdrawal_not_found' })
    }
  })

  test('a request that has expired is rejected, and records nothing', async () => {
    const withdrawer = await openWithdrawer(ctx)
    const issued = await issueWithdrawal(ctx, withdrawer)
    given.clock.setOffset(WITHDRAWAL_REQUEST_MS)
    await assert.rejects(signWithdrawal(ctx, withdrawer, issued), { status: 409, code: 'signing_request_expired' })
    assert.deepEqual(await listPayments(withdrawer.seeded.workspace.id), [])
  })

  test('a balance that has fallen since rejects the withdrawal; the same signature works once it is back', async () => {
    const withdrawer = await openWithdrawer(ctx)
    const { seeded } = withdrawer
    const issued = await issueWithdrawal(ctx, withdrawer, { amountUsdc: '5' })
    setBalance(seeded.wallet, 5_500_000n)
    const pending = await seedPayment(ctx, seeded, { amountUsdc: '0.6' })
    await assert.rejects(signWithdrawal(ctx, withdrawer, issued), {
      code: 'insufficient_balance',
      details: { balance_usdc: '5.5', pending_usdc: '0.6', requested: '5' },
    })
    assert.deepEqual(await listPayments(seeded.workspace.id), [pending.id])
    setBalance(seeded.wallet, 5_600_000n)
    assert.equal((await signWithdrawal(ctx, withdrawer, issued)).status, 'pending')
  })

  test('a withdrawal needs no grant and no allowance, and counts in no limit but the balance', async () => {
    const withdrawer = await openWithdrawer(ctx, { mode: 'live', dailyCap: '10', maxPerTx: '10' })
    const { seeded, actor } = withdrawer
    const [workspaceId, month] = [seeded.workspace.id, monthOf(given.clock.now())]
    await ctx.db.write(setAllowance(workspaceId, month, 1_000))
    expectRefusal(await createPayment(ctx, paymentRequest(seeded)), 'plan_cap_exceeded')
    const first = await withdraw(ctx, withdrawer, { amountUsdc: '5000' })
    assert.deepEqual([first.status, first.allowanceMonth], ['pending', null])
    assert.equal(await readAllowance(ctx.db, workspaceId), 1_000)

    await ctx.db.write(setAllowance(workspaceId, month, 0))
    const paid = expectPayment(await createPayment(ctx, paymentRequest(seeded, { amountUsdc: '10' })), 'created')
    assert.equal(paid.status, 'pending', 'the withdrawal did not count against the 24-hour limit')
    given.chains.live.balances.set(seeded.wallet.toLowerCase(), 5_011_000_000n)
    await suspendGrant(ctx, { workspaceId, grantId: seeded.grant.id, actor })
    await withdraw(ctx, withdrawer, { amountUsdc: '1' })
    await assert.rejects(issueWithdrawal(ctx, withdrawer, { amountUsdc: '0.000001' }), {
      code: 'insufficient_balance',
      details: { balance_usdc: '5011', pending_usdc: '5011', requested: '0.000001' },
    })
  })

  test('a payment counts the withdrawals of its wallet against the balance', async () => {
    const { seeded } = await openSent({ balanceMicro: 1_999_999n })
    expectRefusal(await createPayment(ctx, paymentRequest(seeded)), 'insufficient_balance')
  })

  test('without native coin for gas, a wallet that pays its own gas cannot withdraw', async () => {
    const self = await openTestContext((config) => {
      const test = { ...config.chains.test, gas: 'self' as const }
      return { ...config, chains: { ...config.chains, test } }
    })
    try {
      const withdrawer = await openWithdrawer(self.context)
      const issued = await issueWithdrawal(self.context, withdrawer)
      self.chains.test.coinWei = 0n
      await assert.rejects(issueWithdrawal(self.context, withdrawer), { code: 'insufficient_gas' })
      await assert.rejects(signWithdrawal(self.context, withdrawer, issued), { code: 'insufficient_gas' })
      assert.equal(self.enclave.requests.length, 0)
      self.chains.test.coinWei = 10n ** 18n
      assert.equal((await signWithdrawal(self.context, withdrawer, issued)).status, 'pending')
      assert.equal(self.enclave.requests[0]?.sponsored, false)
    } finally {
      await self.close()
    }
  })

  test('while the chain is unavailable, nothing is recorded', async () => {
    const withdrawer = await openWithdrawer(ctx)
    const issued = await issueWithdrawal(ctx, withdrawer)
    given.chains.test.down = true
    await assert.rejects(signWithdrawal(ctx, withdrawer, issued), { name: 'ChainUnavailable' })
    given.chains.test.down = false
    assert.deepEqual(await listPayments(withdrawer.seeded.workspace.id), [])
    assert.equal((await signWithdrawal(ctx, withdrawer, issued)).status, 'pending')
  })

  test('if its audit entry cannot be written, a withdrawal is neither recorded nor sent', async () => {
    const withdrawer = await openWithdrawer(ctx)
    const issued = await issueWithdrawal(ctx, withdrawer)
    const sent = given.enclave.requests.length
    const constraint = `alter table audit_entries add constraint broken check (action <> 'withdrawal.submitted') not valid`
    await readRows(ctx.db, constraint)
    try {
      await assert.rejects(signWithdrawal(ctx, withdrawer, issued), /broken/)
    } finally {
      await readRows(ctx.db, 'alter table audit_entries drop constraint broken')
    }
    assert.deepEqual(await listPayments(withdrawer.seeded.workspace.id), [])
    assert.equal(given.enclave.requests.length, sent)
    assert.equal((await signWithdrawal(ctx, withdrawer, issued)).status, 'pending')
  })

  test('while the enclave is out of reach, no owner is asked to sign, and nothing is recorded; later the same signature is sent', async (t) => {
    let port = 0
    const proxy = await startEnclaveProxy(() => port)
    const away = await openTestContext((config) => {
      port = Number(new URL(config.enclave.apiUrl).port)
      return { ...config, enclave: { ...config.enclave, apiUrl: proxy.url } }
    })
    t.after(async () => {
      await away.close()
      await proxy.close()
    })
    const withdrawer = await openWithdrawer(away.context)
    const issued = await issueWithdrawal(away.context, withdrawer)
    proxy.cut()
    for (const offsetMs of [0, 6_000]) {
      away.clock.setOffset(offsetMs)
      await assert.rejects(away.context.enclave.checkReachable())
    }
    await assert.rejects(issueWithdrawal(away.context, withdrawer), { name: 'EnclaveOutOfReach' })
    await assert.rejects(signWithdrawal(away.context, withdrawer, issued), { name: 'EnclaveOutOfReach' })
    assert.deepEqual(await readRows(away.context.db, 'select id from payments'), [])
    proxy.restore()
    // The enclave is not tried again at once.
    away.clock.setOffset(8_000)
    assert.equal((await signWithdrawal(away.context, withdrawer, issued)).status, 'pending')
    assert.equal(away.enclave.requests.length, 1)
  })

  async function openSent({ balanceMicro }: { balanceMicro?: bigint } = {}) {
    const withdrawer = await openWithdrawer(ctx)
    if (balanceMicro !== undefined) setBalance(withdrawer.seeded.wallet, balanceMicro)
    return { withdrawer, seeded: withdrawer.seeded, payment: await withdraw(ctx, withdrawer) }
  }

  function setBalance(wallet: string, micro: bigint): void {
    given.chains.test.balances.set(wallet.toLowerCase(), micro)
  }

  function transferOf({ walletAddress: from, to, amountMicro }: Payment) {
    return { contract: ctx.chains.test.usdc, from, to, amountMicro }
  }

  function mine(payment: Payment, blockNumber: bigint, change: { reverted?: boolean } = {}): void {
    given.chains.test.receipts.set(payment.txHash ?? '', { ...transferOf(payment), blockNumber, ...change })
  }

  function countSent({ id }: Payment): number {
    return given.enclave.requests.filter(({ referenceId }) => referenceId === id).length
  }

  async function listPayments(workspaceId: string): Promise<string[]> {
    const rows = await readRows(ctx.db, 'select id from payments where workspace_id = $1 order by id', [workspaceId])
    return rows.map((row) => String(row['id']))
  }

  async function readEnds({ workspaceId, id }: Payment) {
    const text = `select action, actor_kind, details from audit_entries
      where log_id = $1 and subject = $2 and action in ('withdrawal.confirmed', 'withdrawal.failed') order by id`
    return await readRows(ctx.db, text, [workspaceId, id])
  }
})
