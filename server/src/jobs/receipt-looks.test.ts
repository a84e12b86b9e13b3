import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Payment, TxHash } from '../domain/payments/payment.ts'
import { LOOK_AGAIN_MS, ReceiptLooks } from './receipt-looks.ts'

const NOW = new Date('2026-01-01T00:00:00Z')

describe('ReceiptLooks', () => {
  test('a receipt is asked for once at a head, and again at the next one', () => {
    const looks = new ReceiptLooks(1)
    const payments = [payment(1), payment(2)]
    assert.deepEqual(looks.chooseDue(payments, { head: 10n, now: NOW }), payments)
    looks.record(payments, 10n)
    assert.deepEqual(looks.chooseDue(payments, { head: 10n, now: NOW }), [])
    assert.deepEqual(looks.chooseDue(payments, { head: 11n, now: NOW }), payments)
  })

  test('a new transaction is looked at once though the head stands still, a replaced one too', () => {
    const looks = new ReceiptLooks(1)
    const [first, second] = [payment(1), payment(2)]
    looks.chooseDue([first], { head: 10n, now: NOW })
    looks.record([first], 10n)
    assert.deepEqual(looks.chooseDue([first, second], { head: 10n, now: NOW }), [second])
    looks.record([second], 10n)
    assert.deepEqual(looks.chooseDue([first, second], { head: 10n, now: NOW }), [])
    const replaced = { ...first, txHash: hash(3) }
    assert.deepEqual(looks.chooseDue([replaced, second], { head: 10n, now: NOW }), [replaced])
  })

  test('a look that a lagging machine answered, at an older head, is made again', () => {
    const looks = new ReceiptLooks(1)
    const payments = [payment(1)]
    looks.chooseDue(payments, { head: 10n, now: NOW })
    looks.record(payments, 9n)
    assert.deepEqual(looks.chooseDue(payments, { head: 10n, now: NOW }), payments)
  })

  test('a head that falls back is no new one', () => {
    const looks = new ReceiptLooks(1)
    const payments = [payment(1)]
    looks.chooseDue(payments, { head: 10n, now: NOW })
    looks.record(payments, 10n)
    for (const head of [9n, 10n]) assert.deepEqual(looks.chooseDue(payments, { head, now: NOW }), [])
  })

  for (const [name, later] of [
    ['stands still', LOOK_AGAIN_MS],
    ['was read before the clock was set back', -LOOK_AGAIN_MS],
  ] as const) {
    test(`everything is looked at again after a while when the head ${name}`, () => {
      const looks = new ReceiptLooks(1)
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

  test('a receipt that was seen is not asked for before its block is deep enough', () => {
    const looks = new ReceiptLooks(4)
    const seen = [payment(1, 10n)]
    for (const head of [10n, 11n, 12n]) assert.deepEqual(looks.chooseDue(seen, { head, now: NOW }), [])
    assert.deepEqual(looks.chooseDue(seen, { head: 13n, now: NOW }), seen)
  })

  test('one that was seen is looked at too when the head stands still: its block may be gone', () => {
    const looks = new ReceiptLooks(4)
    const seen = [payment(1, 10n)]
    const later = new Date(NOW.getTime() + LOOK_AGAIN_MS)
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
