import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSortableId } from './ids.ts'

test('the first ten characters are the milliseconds in base 32', () => {
  assert.equal(createSortableId(new Date(0)).slice(0, 10), '0000000000')
  assert.equal(createSortableId(new Date(31)).slice(0, 10), '000000000Z')
  // This is the example in the ULID specification.
  assert.equal(createSortableId(new Date(1_469_918_176_385)).slice(0, 10), '01ARYZ6S41')
})

test('every character after the time is random', () => {
  const ids = Array.from({ length: 200 }, () => createSortableId(new Date(0)))
  for (let place = 10; place < 26; place += 1) {
    assert.ok(new Set(ids.map((id) => id.charAt(place))).size > 1, `place ${place}`)
  }
})
