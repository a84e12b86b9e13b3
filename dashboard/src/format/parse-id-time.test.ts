import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseIdTime } from './parse-id-time.ts'

test('an ID contains its creation time', () => {
  assert.equal(parseIdTime('pay_01ARZ3NDEKTSV4RRFFQ69G5FAV'), '2016-07-30T23:54:10.259Z')
})

test('other text contains no time', () => {
  for (const text of ['', 'pay_', 'pay_01ARZ3NDEK', 'pay_01arz3ndektsv4rrffq69g5fav', '2016-07-30']) {
    assert.equal(parseIdTime(text), null)
  }
})
