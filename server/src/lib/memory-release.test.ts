import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { QuietAfterWork } from './memory-release.ts'

const [BUSY, MODERATE, QUIET] = [0.9, 0.3, 0.02]

describe('the time at which memory is given back', () => {
  test('is once after each busy time, when the process has been quiet for two samples', () => {
    assert.deepEqual(feed([BUSY, BUSY, QUIET, QUIET, QUIET, QUIET]), [3])
    assert.deepEqual(feed([BUSY, QUIET, BUSY, QUIET, QUIET]), [4])
  })

  test('does not come while the process has moderate work, or has had no more than that', () => {
    assert.deepEqual(feed([BUSY, ...Array.from({ length: 30 }, () => MODERATE)]), [])
    assert.deepEqual(feed(Array.from({ length: 30 }, (_, second) => (second % 5 === 0 ? MODERATE : QUIET))), [])
  })

  test('comes at most every ten samples, however often work begins and ends', () => {
    const waves = Array.from({ length: 12 }, () => [BUSY, QUIET, QUIET, QUIET]).flat()
    const at = feed(waves)
    assert.ok(at.length >= 3, at.join())
    for (const [index, second] of at.entries()) assert.ok(index === 0 || second - (at[index - 1] ?? 0) >= 10, at.join())
  })
})

/** Returns the indexes of the samples at which memory is given back. */
function feed(shares: readonly number[]): number[] {
  const quiet = new QuietAfterWork()
  return shares.flatMap((share, index) => (quiet.add(share) ? [index] : []))
}
