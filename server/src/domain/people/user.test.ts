import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseName } from './user.ts'

test('a name has 1 to 100 characters, none of them a control character', () => {
  const names = ['Ada', '  Ada Lovelace ', 'Ærø 日本 🤖', '🤖'.repeat(100), `a${' '.repeat(200)}`]
  assert.deepEqual(names.map(parseName), ['Ada', 'Ada Lovelace', 'Ærø 日本 🤖', '🤖'.repeat(100), 'a'])
  for (const text of ['', ' \n ', 'x'.repeat(101), 'a\u0000b', 'a\nb', '\ud800', 'a\u0085b']) {
    assert.equal(parseName(text), null, JSON.stringify(text))
  }
})
