import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChainTransfer } from './chain-transfers.ts'
import { findViolations, type Evidence, type RecordedPayment } from './check-landings.ts'

const HOUR_MS = 3_600_000
const WALLET = '0xaa'
const OPERATION = '0x0e'

const payment: RecordedPayment = {
  id: 'pay_1',
  referenceId: 'ref_1',
  agentId: 'agent',
  wallet: WALLET,
  to: '0xbb',
  amountMicro: 10n,
  status: 'confirmed',
  failureCode: null,
  pendingReason: null,
  idempotencyKey: 'key-1',
  txHash: '0x01',
  logIndex: 4,
  createdAtMs: 0,
  events: ['payment.created', 'payment.confirmed'],
}
const transfer: ChainTransfer = {
  txHash: '0x01',
  logIndex: 4,
  from: WALLET,
  to: '0xbb',
  amountMicro: 10n,
  landedAtMs: 1_000,
  operationHash: OPERATION,
}
const failed = { status: 'failed', txHash: null, logIndex: null, events: ['payment.created', 'payment.failed'] }
const pending = { status: 'pending', txHash: null, logIndex: null, events: ['payment.created'] }

const second = { id: 'pay_2', referenceId: 'ref_2', idempotencyKey: 'key-2', txHash: '0x02' }
const secondSend = { referenceId: 'ref_2', operationHash: '0x0f', fault: null }
const secondTransfer = { ...transfer, txHash: '0x02', operationHash: '0x0f' }
const both = (change: Partial<RecordedPayment>, landedAtMs: number): Partial<Evidence> => ({
  payments: [payment, { ...payment, ...second, ...change }],
  transfers: [transfer, { ...secondTransfer, landedAtMs }],
  sends: [{ referenceId: 'ref_1', operationHash: OPERATION, fault: null }, secondSend],
})

const CASES: readonly (readonly [string, Partial<Evidence>, readonly string[]])[] = [
  ['one payment with its transfer', {}, []],
  ['two payments a day apart', both({ createdAtMs: 24 * HOUR_MS }, 24 * HOUR_MS), []],
  [
    'two payments within a day, above the cap',
    both({ createdAtMs: 23 * HOUR_MS }, 23 * HOUR_MS),
    ['no 24 hours over the cap, by recording', 'no 24 hours over the cap, by landing'],
  ],
  [
    'an old payment whose transfer was made a day late',
    both({ createdAtMs: 25 * HOUR_MS }, 2_000),
    ['no 24 hours over the cap, by landing'],
  ],
  [
    'a failed payment with a transfer',
    { payments: [{ ...payment, ...failed }] },
    [
      'a transfer belongs to exactly one payment',
      'what the enclave sent for a payment is what the payment is confirmed by',
    ],
  ],
  [
    'a confirmed payment without a transfer',
    { transfers: [] },
    ['a confirmed payment has its transfer on the chain', 'only what landed is confirmed'],
  ],
  [
    'one payment with two transfers',
    {
      transfers: [transfer, secondTransfer],
      sends: [
        { referenceId: 'ref_1', operationHash: OPERATION, fault: null },
        { ...secondSend, referenceId: 'ref_1' },
      ],
    },
    ['a transfer belongs to exactly one payment', 'no payment lands twice'],
  ],
  [
    'a pending payment without a reason',
    { payments: [{ ...payment, ...pending }], transfers: [] },
    ['a pending payment has a reason'],
  ],
  [
    "confirmed by another payment's transfer",
    {
      payments: [
        { ...payment, ...pending, pendingReason: 'hash_unknown' },
        { ...payment, id: 'pay_2', referenceId: 'ref_2', idempotencyKey: 'key-2' },
      ],
      payers: [{ agentId: 'agent', wallet: WALLET, capMicro: 20n }],
    },
    ['what the enclave sent for a payment is what the payment is confirmed by', 'only what landed is confirmed'],
  ],
  [
    'a payment with an event twice',
    { payments: [{ ...payment, events: [...payment.events, 'payment.confirmed'] }] },
    ['a payment has each of its events once'],
  ],
  [
    'a payment that was acknowledged and not recorded',
    { acknowledged: new Map([['key-3', 'pay_3']]) },
    ['an acknowledged payment is recorded'],
  ],
]

for (const [name, change, rules] of CASES) {
  test(`${name}: ${rules.length === 0 ? 'nothing is wrong' : rules.join('; ')}`, () => {
    const evidence: Evidence = {
      payers: [{ agentId: 'agent', wallet: WALLET, capMicro: 10n }],
      payments: [payment],
      transfers: [transfer],
      sends: [{ referenceId: 'ref_1', operationHash: OPERATION, fault: null }],
      acknowledged: new Map([['key-1', 'pay_1']]),
      ...change,
    }
    assert.deepEqual(
      findViolations(evidence).map(({ rule }) => rule),
      rules,
    )
  })
}
