import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatOwner, formatOwnerTitle, formatSigners } from './owner-text.ts'

test('the owner of a wallet is described', () => {
  const owner = { user_name: 'Ada', name: 'Laptop' }
  const rows = [
    [true, true, 'your passkey “Laptop”', 'Your passkey “Laptop”'],
    [false, true, 'Ada’s passkey “Laptop”', 'Ada’s passkey “Laptop”'],
    [false, false, 'Ada’s passkey “Laptop” (former member)', 'Ada’s passkey “Laptop” (former member)'],
  ] as const
  for (const [is_mine, is_member, text, title] of rows) {
    assert.equal(formatOwner({ ...owner, is_mine, is_member }), text)
    assert.equal(formatOwnerTitle({ ...owner, is_mine, is_member }), title)
  }
})

test('the people who can sign are named', () => {
  const texts = [[], ['Ada'], ['Ada', 'Bob', 'Cy']].map((names) => formatSigners(names))
  assert.deepEqual(texts, ['Nobody else can sign.', 'Ada can sign.', 'Ada, Bob, or Cy can sign.'])
})
