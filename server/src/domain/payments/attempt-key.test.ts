import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { attemptKey } from './attempt-key.ts'

const PAYMENT = {
  workspaceId: 'acc_1',
  mode: 'test',
  id: 'pay_1',
  idempotencyKey: null,
  attempt: 1,
}

const payments = fc.record({
  workspaceId: fc.constantFrom('acc_1', 'acc_2'),
  mode: fc.constantFrom('test', 'live'),
  id: fc.constantFrom('pay_1', 'pay_2'),
  idempotencyKey: fc.oneof(
    fc.constant(null),
    fc.constantFrom('pay_1', 'key:a', 'a', 'a:1', '%', '%25', '🤖'.repeat(64), '🤖'.repeat(63), 'é'.repeat(64)),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
  ),
  attempt: fc.integer({ min: 1, max: 12 }),
})

describe('attemptKey', () => {
  test('the key starts with the workspace and mode, and ends with the attempt’s number', () => {
    assert.equal(attemptKey(PAYMENT), 'acc_1:test:pay_1:1')
    assert.equal(attemptKey({ ...PAYMENT, idempotencyKey: 'order 7', attempt: 2 }), 'acc_1:test:key:order%207:2')
  })

  test('two attempts that differ in any field have different keys', () => {
    fc.assert(
      fc.property(payments, payments, (left, right) => {
        assert.equal(attemptKey(left) === attemptKey(right), identity(left) === identity(right))
      }),
      { numRuns: 2_000 },
    )
  })

  test('the key fits in a header and within the enclave’s limit', () => {
    fc.assert(
      fc.property(payments, (payment) => {
        assert.match(attemptKey({ ...payment, workspaceId: `acc_${'0'.repeat(26)}` }), /^[\x21-\x7e]{1,256}$/)
      }),
    )
  })

  test('different long keys stay different when they are hashed', () => {
    const long = '🤖'.repeat(64)
    const keys = [long, `${'🤖'.repeat(63)}x`, '👾'.repeat(64)].map((idempotencyKey) =>
      attemptKey({ ...PAYMENT, idempotencyKey }),
    )
    assert.equal(new Set(keys).size, 3)
    assert.match(keys[0] ?? '', /^acc_1:test:key-sha256:[0-9a-f]{64}:1$/)
  })
})

/**
 * Returns the fields that make an attempt's key unique. If the caller sent an idempotency key, the payment's id is not
 * among them.
 */
function identity({ workspaceId, mode, id, idempotencyKey, attempt }: Parameters<typeof attemptKey>[0]): string {
  const key = idempotencyKey === null ? ['id', id] : ['key', idempotencyKey]
  return JSON.stringify([workspaceId, mode, key, attempt])
}
