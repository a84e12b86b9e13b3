import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ListedPayment } from '../domain/purchases/purchase-summary.ts'
import { microUsdc } from '../values/money.ts'
import { parseAddress, ZERO_ADDRESS } from '../values/address.ts'
import { parseTimeZone } from '../values/time-zone.ts'
import { PAYMENT_FILE_COLUMNS, toPaymentRow } from './payments-csv.ts'

const PAYMENT: ListedPayment = {
  id: 'pay_1',
  workspaceId: 'acc_1',
  mode: 'test',
  kind: 'transfer',
  agentId: 'bot',
  walletAddress: ZERO_ADDRESS,
  grantId: 'grt_1',
  to: parseAddress(`0x${'1'.repeat(40)}`) ?? ZERO_ADDRESS,
  amountMicro: microUsdc(1_500_000n),
  amountUsdc: '1.50',
  memo: null,
  idempotencyKey: null,
  credentialId: null,
  requestId: null,
  status: 'pending',
  failureCode: null,
  txHash: null,
  createdAt: new Date('2026-06-01T12:00:00.000Z'),
  acceptedAt: null,
  settledAt: null,
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
  purchase: null,
}

const CONFIRMED: ListedPayment = {
  ...PAYMENT,
  status: 'confirmed',
  settledAt: new Date('2026-06-01T23:59:59.900Z'),
  txHash: `0x${'a'.repeat(64)}`,
  minedBlock: 77n,
  gasWei: 15n * 10n ** 16n,
}

describe('payments in a file', () => {
  test('only what has moved is in the column of amounts, so that its sum is right', () => {
    const amounts = (payment: ListedPayment) => {
      const { status, amount_usdc, requested_usdc, failure_code } = toRow(payment)
      return [status, amount_usdc, requested_usdc, failure_code]
    }
    assert.deepEqual(amounts(CONFIRMED), ['confirmed', '1.5', '1.5', null])
    assert.deepEqual(amounts(PAYMENT), ['pending', null, '1.5', null])
    const failed = { ...PAYMENT, status: 'failed', failureCode: 'reverted' } as const
    assert.deepEqual(amounts(failed), ['failed', null, '1.5', 'reverted'])
  })

  test('names stand beside addresses, and a confirmed payment has its block, its time and what its gas cost', () => {
    const row = toRow(CONFIRMED)
    assert.deepEqual([row.wallet_name, row.recipient_name, row.currency], ['Treasury', 'Anthropic', 'USDC'])
    assert.deepEqual([row.block_number, row.fee, row.fee_currency], ['77', '0.15', 'ETH'])
    assert.deepEqual([row.created_at, row.confirmed_at], ['2026-06-01 12:00:00', '2026-06-01 23:59:59'])
    const pending = toRow({ ...PAYMENT, minedBlock: 77n, minedBlockHash: '0x1' })
    assert.deepEqual([pending.block_number, pending.confirmed_at, pending.fee], [null, null, null])
  })

  test('times are in the time zone that the reader asked for, and every line names it', () => {
    const row = toRow(CONFIRMED, 'Asia/Tokyo')
    assert.deepEqual(
      [row.created_at, row.confirmed_at, row.time_zone],
      ['2026-06-01 21:00:00', '2026-06-02 08:59:59', 'Asia/Tokyo'],
    )
  })

  test('a withdrawal has no agent and no grant', () => {
    const row = toRow({ ...PAYMENT, kind: 'withdrawal', agentId: null, grantId: null, authorization: null })
    assert.deepEqual([row.kind, row.agent_id, row.grant_id], ['withdrawal', null, null])
  })

  test('a purchase has its resource and its delivery', () => {
    const [host, resourceUrl] = ['api.example', 'https://api.example/=1,2']
    const authorization = { nonce: '0x1', validBefore: PAYMENT.createdAt } as const
    const purchase = { paymentId: 'pay_1', host, resourceUrl, delivery: 'failed', isResolved: false } as const
    const row = toRow({ ...PAYMENT, kind: 'x402', authorization, purchase })
    assert.deepEqual([row.resource, row.delivery], [resourceUrl, 'failed'])
  })

  test('every column has a value in some line', () => {
    const authorization = { nonce: '0x1', validBefore: PAYMENT.createdAt } as const
    const parts = { paymentId: 'pay_1', host: 'a', resourceUrl: 'https://a', delivery: 'failed' } as const
    const purchase = { ...parts, isResolved: false }
    const texts = { memo: 'm', idempotencyKey: 'k', failureCode: 'reverted' } as const
    const row = toRow({ ...CONFIRMED, ...texts, kind: 'x402', authorization, purchase })
    assert.deepEqual(
      PAYMENT_FILE_COLUMNS.filter((column) => (row[column] ?? '') === ''),
      [],
    )
  })
})

function toRow(payment: ListedPayment, zoneName = 'UTC') {
  const zone = parseTimeZone(zoneName)
  assert.ok(zone)
  const wallets = new Map([[ZERO_ADDRESS, 'Treasury']])
  const recipients = new Map([[PAYMENT.to, 'Anthropic']])
  const note = { note: 'n', category: 'c', link: 'https://a.example/' }
  return toPaymentRow(payment, { zone, chainId: 84532, wallets, recipients, note })
}
