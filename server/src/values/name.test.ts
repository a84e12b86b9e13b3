import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkName, parseName } from './name.ts'
import { Problem } from './problem.ts'

test('a name is trimmed, and has 1 to 100 characters, none of them a control character', () => {
  const names = ['Ada', '  Ada Lovelace ', 'Ærø 日本 🤖', '🤖'.repeat(100), `a${' '.repeat(200)}`]
  assert.deepEqual(names.map(parseName), ['Ada', 'Ada Lovelace', 'Ærø 日本 🤖', '🤖'.repeat(100), 'a'])
  for (const text of ['', ' \n ', 'x'.repeat(101), 'a\u0000b', 'a\nb', '\ud800', 'a\u0085b', 'a\u2028b', 'a\u2029b']) {
    assert.equal(parseName(text), null, JSON.stringify(text))
  }
})

test('a name has at least one visible character', () => {
  const blanks = ['\u200b\u3164\u00ad', '\u3164', '\u115f', '\u1160', '\uffa0', '\u2800', '\u034f', '\ufe0f', '\u00a0']
  for (const text of [...blanks, '\u3164 \u3164', '\u200d', '\u2060', '\u{e0100}']) {
    assert.equal(parseName(text), null, JSON.stringify(text))
  }
})

test('invisible characters and those that change the direction of text are rejected inside a name', () => {
  const invisible = ['\u200b', '\u00ad', '\u2060', '\ufeff', '\u061c', '\u200e', '\u202e', '\u2066', '\u{e0041}']
  for (const character of invisible) assert.equal(parseName(`a${character}b`), null, JSON.stringify(character))
})

test('joiners are only allowed inside words', () => {
  for (const name of ['می\u200cخواهم', 'क्\u200dष', '👩\u200d💻', '❤\ufe0f\u200d🔥', '👨\u200d👩\u200d👧']) {
    assert.equal(parseName(name), name)
  }
  for (const text of ['\u200da', 'a\u200c', 'a\u200d b', 'a \u200db', 'a\u200d\u200cb', 'a\u200d\u3164']) {
    assert.equal(parseName(text), null, JSON.stringify(text))
  }
})

test('a name that is not allowed is an error that names its field', () => {
  assert.equal(checkName(' Ada '), 'Ada')
  assert.throws(
    () => checkName('\u200b', 'label'),
    (error: unknown) => {
      assert.ok(error instanceof Problem)
      assert.equal(error.type, 'validation_failed')
      assert.deepEqual((error.details as { path: string }[])[0]?.path, 'label')
      return true
    },
  )
})
