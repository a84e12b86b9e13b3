import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatOwnerTitle, formatOwner } from './owner-text.ts'

test('the owner of a wallet is described as far as it is known', () => {
  const rows = [
    [true, 'Ada', 'Laptop', 'your passkey “Laptop”'],
    [true, 'Ada', null, 'your passkey'],
    [false, 'Ada', 'Laptop', 'Ada’s passkey “Laptop”'],
    [false, 'Ada', null, 'Ada’s passkey'],
    [false, null, 'Laptop', 'the passkey “Laptop”'],
    [false, null, null, 'a passkey that was removed from its owner’s account'],
  ] as const
  for (const [is_mine, user_name, name, text] of rows) {
    assert.equal(formatOwner({ is_mine, user_name, name }), text)
    const title = formatOwnerTitle({ is_mine, user_name, name })
    assert.equal(title.toLowerCase(), text.toLowerCase())
    assert.match(title, /^[A-Z]/)
  }
})
