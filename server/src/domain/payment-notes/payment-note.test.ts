import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLink, parseNoteText } from './payment-note.ts'

test('a link is an https address without a user name', () => {
  const rows: readonly (readonly [text: string, link: string | null | undefined])[] = [
    ['', null],
    ['  ', null],
    [' https://a.example/invoice?id=1 ', 'https://a.example/invoice?id=1'],
    ['HTTPS://A.example', 'https://a.example/'],
    ['http://a.example', undefined],
    ['javascript:alert(1)', undefined],
    ['data:text/html,x', undefined],
    ['https://bank.example@evil.example/', undefined],
    ['a.example/invoice', undefined],
    [`https://a.example/${'a'.repeat(2_048)}`, undefined],
    ['https://a.example/\u0000', undefined],
  ]
  for (const [text, link] of rows) assert.equal(parseLink(text), link, text)
})

test('a note is trimmed, has a length, and can be stored', () => {
  assert.equal(parseNoteText('  two\nlines ', 9), 'two\nlines')
  assert.equal(parseNoteText('🍜🍜', 2), '🍜🍜')
  assert.equal(parseNoteText('🍜🍜', 1), undefined)
  assert.equal(parseNoteText(' ', 1), null)
  assert.equal(parseNoteText('a\u0000', 5), undefined)
})
