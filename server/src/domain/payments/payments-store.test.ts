import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { RECIPIENT, seed, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createId } from '../../values/ids.ts'
import { microUsdc } from '../../values/money.ts'
import type { Admission, Payment, TransferPayment } from './payment.ts'
import { findPayment, insertPayments, markConfirmed } from './payments-store.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const ADMISSION: Admission = {
  maxPerTxMicro: microUsdc(10n),
  dailyCapMicro: microUsdc(25n),
  spent24hMicro: microUsdc(20n),
}
const HASH = `0x${'a'.repeat(64)}` as const

/**
 * The last line of defense: PostgreSQL rejects rows that our code must never write, with the error 23514 (check) or
 * 23505 (unique).
 */
describe('the table payments', () => {
  let given: TestContext
  let seeded: Seed
  before(async () => {
    given = await openTestContext()
    seeded = await seed(given.context)
  })
  after(() => given.close())

  test('a row exactly at its limits is accepted', async () => {
    const payment = make({ amountMicro: microUsdc(5n) })
    await given.context.db.write(insertPayments([{ payment, admission: ADMISSION }]))
    assert.deepEqual(await given.context.db.read(findPayment(payment.workspaceId, 'test', payment.id)), payment)
  })

  const faults: readonly {
    readonly name: string
    readonly payment?: Partial<TransferPayment>
    readonly admission?: Partial<Admission>
    readonly code?: string
  }[] = [
    { name: 'breaks the daily cap', payment: { amountMicro: microUsdc(6n) } },
    { name: 'breaks the per-payment limit', admission: { maxPerTxMicro: microUsdc(4n) } },
    { name: 'has an amount of zero', payment: { amountMicro: microUsdc(0n) } },
    { name: 'has a negative amount', payment: { amountMicro: microUsdc(-1n) } },
    { name: 'has a negative sum of earlier spending', admission: { spent24hMicro: microUsdc(-100n) } },
    { name: 'has an unknown status', payment: { status: 'sent' as 'pending' } },
    { name: 'is confirmed without a hash', payment: { status: 'confirmed' } },
    { name: 'is failed without a reason', payment: { status: 'failed' } },
    { name: 'has a memo of 201 characters', payment: { memo: 'x'.repeat(201) } },
    { name: 'has an empty idempotency key', payment: { idempotencyKey: '' } },
    { name: 'has an idempotency key of 65 characters', payment: { idempotencyKey: 'x'.repeat(65) } },
    { name: 'is live without an allowance', payment: { mode: 'live' } },
    { name: 'is a test payment that counts against the allowance', payment: { allowanceMonth: '2026-03-01' } },
    { name: 'has a recipient that is not an address', payment: { to: '0x12' as Payment['to'] } },
    { name: 'has no attempt', payment: { attempt: 0 } },
    { name: 'refers to a grant that does not exist', payment: { grantId: 'grt_none' }, code: '23503' },
  ]
  for (const { name, payment, admission, code = '23514' } of faults) {
    test(`a row that ${name} is refused`, async () => {
      const row = make({ amountMicro: microUsdc(5n), ...payment })
      await assert.rejects(
        given.context.db.write(insertPayments([{ payment: row, admission: { ...ADMISSION, ...admission } }])),
        { code },
      )
    })
  }

  test('in one workspace and mode, an idempotency key can have only one row', async () => {
    const insert = () =>
      given.context.db.write(insertPayments([{ payment: make({ idempotencyKey: 'once' }), admission: ADMISSION }]))
    await insert()
    await assert.rejects(insert(), { code: '23505', constraint: 'payments_by_idempotency_key' })
  })

  test('a payment without a hash cannot be confirmed', async () => {
    const payment = make({})
    await given.context.db.write(insertPayments([{ payment, admission: ADMISSION }]))
    const block = { number: 1n, hash: HASH, logIndex: 0n }
    assert.equal(await given.context.db.write(markConfirmed({ ...payment, txHash: HASH }, block, NOW)), null)
    assert.equal((await given.context.db.read(findPayment(payment.workspaceId, 'test', payment.id)))?.status, 'pending')
  })

  function make(changes: Partial<TransferPayment>): TransferPayment {
    return {
      id: createId('payment', NOW),
      workspaceId: seeded.workspace.id,
      mode: 'test',
      kind: 'transfer',
      agentId: seeded.agentId,
      walletAddress: seeded.wallet,
      grantId: seeded.grant.id,
      to: RECIPIENT,
      amountMicro: microUsdc(1n),
      amountUsdc: '0.000001',
      memo: null,
      idempotencyKey: null,
      status: 'pending',
      failureCode: null,
      txHash: null,
      createdAt: NOW,
      allowanceMonth: null,
      attempt: 1,
      attemptUntil: null,
      requestExpiresAt: null,
      fencedUntil: null,
      enclaveTransactionId: null,
      userOperationHash: null,
      senderNonce: null,
      pendingReason: null,
      firstBlock: null,
      searchedBlock: null,
      lookups: 0,
      minedBlock: null,
      minedBlockHash: null,
      logIndex: null,
      gasWei: null,
      authorization: null,
      credentialId: 'key_1',
      requestId: null,
      acceptedAt: null,
      settledAt: null,
      ...changes,
    }
  }
})
