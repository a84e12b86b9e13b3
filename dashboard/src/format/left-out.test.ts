import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatLeftOut, readLeftOut } from './left-out.ts'

test('the last line of an export says how many payments it leaves out', async () => {
  const payment = `{"leaves":"${'a'.repeat(10_000)}","left_out":7}\n`
  assert.equal(await readLeftOut(new Blob([`${payment}{"left_out":1234,"seal":"a\\n\\nb\\n"}\n`])), 1234)
  await assert.rejects(readLeftOut(new Blob([''])))
})

test('the text counts the payments that are left out', () => {
  assert.match(formatLeftOut(1), /1 of the payments, because there is no evidence of it, or not yet/)
  assert.match(formatLeftOut(1234), /1,234 of the payments, because there is no evidence of them/)
})
