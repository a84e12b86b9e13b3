import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { QuietAfterOverload } from './memory-release.ts'

const OVERLOADED = { share: 1, isOverloaded: true }
const BUSY = { share: 1, isOverloaded: false }
const QUIET = { share: 0.02, isOverloaded: false }

describe('the time at which memory is given back', () => {
  test('is once after each overload, when the process has been quiet for two samples', () => {
    assert.deepEqual(feed([OVERLOADED, OVERLOADED, QUIET, QUIET, QUIET, QUIET]), [3])
    assert.deepEqual(feed([OVERLOADED, QUIET, BUSY, QUIET, QUIET]), [4])
  })

  test('does not come while the process still has work, or after a busy time in which it turned nobody away', () => {
    assert.deepEqual(feed([OVERLOADED, ...Array.from({ length: 30 }, () => BUSY)]), [])
    assert.deepEqual(feed([BUSY, BUSY, ...Array.from({ length: 30 }, () => QUIET)]), [])
  })

  test('comes at most every ten samples, however often overloads begin and end', () => {
    const waves = Array.from({ length: 12 }, () => [OVERLOADED, QUIET, QUIET, QUIET]).flat()
    const at = feed(waves)
    assert.ok(at.length >= 3, at.join())
    for (const [index, second] of at.entries()) assert.ok(index === 0 || second - (at[index - 1] ?? 0) >= 10, at.join())
  })
})

/** Returns the indexes of the samples at which memory is given back. */
function feed(samples: readonly { share: number; isOverloaded: boolean }[]): number[] {
  const quiet = new QuietAfterOverload()
  return samples.flatMap((sample, index) => (quiet.add(sample) ? [index] : []))
}
