import assert from 'node:assert/strict'
import { test } from 'node:test'
import { splitEvenly } from './split-evenly.ts'

test('a long text is split into parts of almost equal length, and a short one is not', () => {
  const rows = [
    ['', ['']],
    ['pay_1', ['pay_1']],
    [`0x${'a'.repeat(40)}`, [`0x${'a'.repeat(19)}`, 'a'.repeat(21)]],
    ['😀'.repeat(25), ['😀'.repeat(13), '😀'.repeat(12)]],
  ] as const
  for (const [text, parts] of rows) assert.deepEqual(splitEvenly(text), parts)
  assert.deepEqual(
    splitEvenly(`0x${'a'.repeat(64)}`).map((part) => part.length),
    [22, 22, 22],
  )
})
