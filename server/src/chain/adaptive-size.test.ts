import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AdaptiveSize, CALLS_PER_REQUEST } from './adaptive-size.ts'

const { max: MAX, answersBeforeGrowth: NEEDED } = CALLS_PER_REQUEST

describe('AdaptiveSize', () => {
  test('it starts at the maximum, halves after each refusal, and stops at one', () => {
    const size = new AdaptiveSize(CALLS_PER_REQUEST)
    const seen = [size.max]
    while (size.max > 1) {
      size.recordRefusal(size.max)
      seen.push(size.max)
    }
    assert.deepEqual(seen, [MAX, 51, 25, 12, 6, 3, 1])
    size.recordRefusal(1)
    assert.equal(size.max, 1)
  })

  test('a late refusal, of a request sent before the last one, does not increase the size', () => {
    const size = new AdaptiveSize(CALLS_PER_REQUEST)
    size.recordRefusal(20)
    size.recordRefusal(MAX)
    assert.equal(size.max, 10)
  })

  test('it grows by a tenth after enough full requests, and small ones do not count', () => {
    const size = new AdaptiveSize(CALLS_PER_REQUEST)
    size.recordRefusal(40)
    for (let request = 1; request < NEEDED; request += 1) size.recordAnswer(20)
    for (let request = 0; request < NEEDED; request += 1) size.recordAnswer(19)
    assert.equal(size.max, 20)
    size.recordAnswer(20)
    assert.equal(size.max, 22)
  })

  test('if a larger size is refused, it returns to the last one that worked, and waits twice as long to grow again', () => {
    const size = new AdaptiveSize(CALLS_PER_REQUEST)
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

  test('if even the smallest size is rejected, the node is failing, so the size before that counts again after the next answer', () => {
    const size = new AdaptiveSize(CALLS_PER_REQUEST)
    size.recordRefusal(20)
    size.recordAnswer(10)
    while (size.max > 1) size.recordRefusal(size.max)
    size.recordRefusal(1)
    assert.equal(size.max, 1)
    size.recordAnswer(1)
    assert.equal(size.max, 10)
    // Sizes above one were rejected, but the smallest was not. So it is the node's limit.
    while (size.max > 1) size.recordRefusal(size.max)
    size.recordAnswer(1)
    assert.equal(size.max, 1)
  })

  test('it never grows beyond the maximum', () => {
    const size = new AdaptiveSize(CALLS_PER_REQUEST)
    size.recordRefusal(MAX)
    for (let request = 0; request < 10 * NEEDED; request += 1) size.recordAnswer(size.max)
    assert.equal(size.max, MAX)
  })
})

function answer(size: AdaptiveSize, requests: number): void {
  for (let request = 0; request < requests; request += 1) size.recordAnswer(size.max)
}
