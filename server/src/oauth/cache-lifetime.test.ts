import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { lifetimeOf } from './cache-lifetime.ts'

const CASES: readonly (readonly [string | undefined, number])[] = [
  [undefined, 300],
  ['', 300],
  ['public', 300],
  ['no-store', 300],
  ['max-age=0', 300],
  ['max-age=300', 300],
  ['max-age=301', 301],
  ['public, max-age=3600, must-revalidate', 3_600],
  ['PUBLIC,MAX-AGE="7200"', 7_200],
  ['s-maxage=7200', 300],
  ['max-age=86400', 86_400],
  ['max-age=31536000, immutable', 86_400],
  ['max-age=999999999999999', 86_400],
  ['max-age=-1', 300],
  ['max-age=1e9', 300],
]

describe('lifetimeOf', () => {
  for (const [header, seconds] of CASES) {
    test(`a copy with Cache-Control ${header ?? 'missing'} is used for ${seconds} s`, () => {
      assert.equal(lifetimeOf(header), seconds * 1_000)
    })
  }
})
