import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Payment, TxHash } from '../domain/payments/payment.ts'
import { REREAD_AFTER_MS, ReceiptSchedule } from './receipt-schedule.ts'

const NOW = new Date('2026-01-01T00:00:00Z')

describe('ReceiptSchedule', () => {
  test('a receipt is read once per head', () => {
    const looks = new ReceiptSchedule(1)
    const payments = [payment(1), payment(2)]
    assert.deepEqual(looks.chooseDue(payments, { head: 10n, now: NOW }), payments)
    looks.record(payments, 10n)
    assert.deepEqual(looks.chooseDue(payments, { head: 10n, now: NOW }), [])
    assert.deepEqual(looks.chooseDue(payments, { head: 11n, now: NOW }), payments)
  })

  test('a new or replaced transaction is read at once, even if the head stays the same', () => {
    const looks = new ReceiptSchedule(1)
    const [first, second] = [payment(1), payment(2)]
    looks.chooseDue([first], { head: 10n, now: NOW })
    looks.record([first], 10n)
    assert.deepEqual(looks.chooseDue([first, second], { head: 10n, now: NOW }), [second])
    looks.record([second], 10n)
    assert.deepEqual(looks.chooseDue([first, second], { head: 10n, now: NOW }), [])
    const replaced = { ...first, txHash: hash(3) }
    assert.deepEqual(looks.chooseDue([replaced, second], { head: 10n, now: NOW }), [replaced])
  })

  test('a read that returned an older head is repeated', () => {
    const looks = new ReceiptSchedule(1)
    const payments = [payment(1)]
    looks.chooseDue(payments, { head: 10n, now: NOW })
    looks.record(payments, 9n)
    assert.deepEqual(looks.chooseDue(payments, { head: 10n, now: NOW }), payments)
  })

  test('a head that falls back does not count as new', () => {
    const looks = new ReceiptSchedule(1)
    const payments = [payment(1)]
    looks.chooseDue(payments, { head: 10n, now: NOW })
    looks.record(payments, 10n)
    for (const head of [9n, 10n]) assert.deepEqual(looks.chooseDue(payments, { head, now: NOW }), [])
  })

  for (const [name, later] of [
    ['stands still', REREAD_AFTER_MS],
    ['was read before the clock was set back', -REREAD_AFTER_MS],
  ] as const) {
    test(`all receipts are read again after a while if the head ${name}`, () => {
      const looks = new ReceiptSchedule(1)
      const payments = [payment(1)]
      looks.chooseDue(payments, { head: 10n, now: NOW })
      looks.record(payments, 10n)
      const almost = new Date(NOW.getTime() + later - Math.sign(later))
      assert.deepEqual(looks.chooseDue(payments, { head: 10n, now: almost }), [])
      const then = new Date(NOW.getTime() + later)
      assert.deepEqual(looks.chooseDue(payments, { head: 10n, now: then }), payments)
      looks.record(payments, 10n)
      assert.deepEqual(looks.chooseDue(payments, { head: 10n, now: then }), [])
    })
  }

  test('a receipt that was seen is not read again before its block is deep enough', () => {
    const looks = new ReceiptSchedule(4)
    const seen = [payment(1, 10n)]
    for (const head of [10n, 11n, 12n]) assert.deepEqual(looks.chooseDue(seen, { head, now: NOW }), [])
    assert.deepEqual(looks.chooseDue(seen, { head: 13n, now: NOW }), seen)
  })

  test('a receipt that was seen is read again if the head stays the same, because its block may be gone', () => {
    const looks = new ReceiptSchedule(4)
    const seen = [payment(1, 10n)]
    const later = new Date(NOW.getTime() + REREAD_AFTER_MS)
    assert.deepEqual(looks.chooseDue(seen, { head: 10n, now: NOW }), [])
    assert.deepEqual(looks.chooseDue(seen, { head: 10n, now: later }), seen)
    looks.record(seen, 10n)
    assert.deepEqual(looks.chooseDue(seen, { head: 10n, now: later }), [])
    assert.deepEqual(looks.chooseDue(seen, { head: 11n, now: later }), [])
  })
})

function payment(n: number, minedBlock: bigint | null = null): Payment {
  return { txHash: hash(n), minedBlock } as Payment
}

function hash(n: number): TxHash {
  return `0x${n.toString(16).padStart(64, '0')}`
}
