import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatOwnerTitle, formatOwner } from './owner-text.ts'

test('the owner of a wallet is described', () => {
  const owner = { user_name: 'Ada', name: 'Laptop' }
  const rows = [
    [true, 'your passkey “Laptop”', 'Your passkey “Laptop”'],
    [false, 'Ada’s passkey “Laptop”', 'Ada’s passkey “Laptop”'],
  ] as const
  for (const [is_mine, text, title] of rows) {
    assert.equal(formatOwner({ ...owner, is_mine }), text)
    assert.equal(formatOwnerTitle({ ...owner, is_mine }), title)
  }
})
