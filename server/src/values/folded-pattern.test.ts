import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foldedPattern } from './folded-pattern.ts'

// JavaScript reads these patterns as PostgreSQL does. `list-payments.test.ts` tries them in the database.
test('a pattern matches every spelling, and takes no character as a command', () => {
  const matches = (text: string, part: string) => new RegExp(foldedPattern(part)).test(text)
  const found = [
    ['in Zürich', 'ZURICH'],
    ['in ZURICH', 'zürich'],
    ['in Zu\u0308rich', 'Zürich'],
    ['in Zürich', 'zu\u0308rich'],
    ['STRASSE 7', 'Straße'],
    ['Straße 7', 'straße'],
    ['東京', '京'],
    [String.raw`a\b]c^d-e[f`, String.raw`\b]c^d-e[`],
    ['100% (net)', '% (NET)'],
  ] as const
  for (const [text, part] of found) assert.ok(matches(text, part), `${part} in ${text}`)
  assert.ok(!matches('axb', 'a.b'))
  assert.ok(!matches('Zug', 'Zürich'))
})
