import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { FREE_PER_HELD, shareOf } from './places.ts'

test('a share is a quarter of the free places, and never less than one', () => {
  for (const [free, share] of [
    [400, 100],
    [7, 1],
    [8, 2],
    [1, 1],
    [0, 1],
  ] as const) {
    assert.equal(shareOf(free), share, String(free))
  }
})

test('if all holders use their whole share, some places stay free as long as a share is more than one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 600 }), (places, holders) => {
      const held = Array.from({ length: holders }, () => 0)
      let free = places
      for (let took = true; took;) {
        took = false
        for (const [index, count] of held.entries()) {
          if (free === 0 || count >= shareOf(free)) continue
          held[index] = count + 1
          free -= 1
          took = true
        }
      }
      const most = Math.max(...held)
      if (most > 1) assert.ok(free >= most * FREE_PER_HELD - 1 && Math.min(...held) >= 1)
      else assert.ok(free >= 0)
    }),
  )
})
