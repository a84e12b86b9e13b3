import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countCodePoints, isStorable } from './text.ts'

test('code points are counted, neither UTF-16 units nor graphemes', () => {
  assert.deepEqual(['', 'abc', '🤖', 'e\u0301', '\ud800'].map(countCodePoints), [0, 3, 1, 2, 1])
})

test('NUL and lone surrogates cannot be stored; surrogate pairs and everything else can', () => {
  assert.deepEqual(['\u0000', 'a\ud800b', '\udc00', '\udc00\ud800'].map(isStorable), [false, false, false, false])
  assert.deepEqual(['', '🤖', '\ud83e\udd16', '\u0001', '\uffff'].map(isStorable), [true, true, true, true, true])
})
