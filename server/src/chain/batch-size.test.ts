import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BatchSize, CALLS_PER_REQUEST_MAX, REQUESTS_BEFORE_GROWTH_MIN as NEEDED } from './batch-size.ts'

describe('BatchSize', () => {
  test('it starts at the maximum, halves after each refusal, and stops at one call', () => {
    const size = new BatchSize()
    const seen = [size.max]
    while (size.max > 1) {
      size.recordRefusal(size.max)
      seen.push(size.max)
    }
    assert.deepEqual(seen, [CALLS_PER_REQUEST_MAX, 51, 25, 12, 6, 3, 1])
    size.recordRefusal(1)
    assert.equal(size.max, 1)
  })

  test('a late refusal, of a request sent before the last one, does not increase the size', () => {
    const size = new BatchSize()
    size.recordRefusal(20)
    size.recordRefusal(CALLS_PER_REQUEST_MAX)
    assert.equal(size.max, 10)
  })

  test('it grows by a tenth after enough full requests, and small ones do not count', () => {
    const size = new BatchSize()
    size.recordRefusal(40)
    for (let request = 1; request < NEEDED; request += 1) size.recordAnswer(20)
    for (let request = 0; request < NEEDED; request += 1) size.recordAnswer(19)
    assert.equal(size.max, 20)
    size.recordAnswer(20)
    assert.equal(size.max, 22)
  })

  test('if a larger size is refused, it returns to the last one that worked, and waits twice as long to grow again', () => {
    const size = new BatchSize()
    size.recordRefusal(40)
    answer(size, NEEDED)
    assert.equal(size.max, 22)
    // Several requests of this size may be in progress when the first one is refused.
    for (let refused = 0; refused < 4; refused += 1) size.recordRefusal(22)
    assert.equal(size.max, 20)
    answer(size, 2 * NEEDED - 1)
    assert.equal(size.max, 20)
    answer(size, 1)
    assert.equal(size.max, 22)
    size.recordRefusal(22)
    size.recordRefusal(20)
    assert.equal(size.max, 10)
  })

  test('it never grows beyond the maximum', () => {
    const size = new BatchSize()
    size.recordRefusal(CALLS_PER_REQUEST_MAX)
    for (let request = 0; request < 10 * NEEDED; request += 1) size.recordAnswer(size.max)
    assert.equal(size.max, CALLS_PER_REQUEST_MAX)
  })
})

function answer(size: BatchSize, requests: number): void {
  for (let request = 0; request < requests; request += 1) size.recordAnswer(size.max)
}
