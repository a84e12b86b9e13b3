import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskSource } from './mask-source.ts'

const CASES: readonly {
  readonly name: string
  readonly text: string
  readonly code: string
  readonly strings: string[]
}[] = [
  { name: 'a line comment', text: "a // it's\nb", code: 'a        \nb', strings: [] },
  { name: 'a block comment keeps its line ends', text: 'a /* "x\n*/ b', code: 'a      \n   b', strings: [] },
  { name: 'a comment that never ends', text: 'a /* b', code: 'a     ', strings: [] },
  {
    name: 'a string with an escaped quote',
    text: String.raw`f('it\'s')`,
    code: "f('     ')",
    strings: [String.raw`it\'s`],
  },
  { name: 'a string that holds a comment', text: 'f("// no")', code: 'f("     ")', strings: ['// no'] },
  { name: 'a template and its placeholder', text: 'f(`a${b}c`)', code: 'f(` ${b} `)', strings: ['a${}c'] },
  {
    name: 'a template in a template',
    text: '`a${x(`b${y}`, { z })}c`',
    code: '` ${x(` ${y}`, { z })} `',
    strings: ['a${}c', 'b${}'],
  },
  {
    name: 'a regular expression with a quote',
    text: 'x = /[\'"/]"/.test(y)',
    code: 'x = /      /.test(y)',
    strings: [],
  },
  { name: 'a division is no regular expression', text: "a / b / 'c'", code: "a / b / ' '", strings: ['c'] },
  { name: 'an address in a string', text: "get('http://x')\nnow", code: "get('        ')\nnow", strings: ['http://x'] },
]

for (const { name, text, code, strings } of CASES) {
  test(`masking tells code from literals: ${name}`, () => {
    const masked = maskSource(text)
    assert.equal(masked.code, code)
    assert.deepEqual(
      masked.strings.map((literal) => literal.text),
      strings,
    )
  })
}
