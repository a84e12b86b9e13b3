import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSource } from './parse-source.ts'

const CASES: readonly {
  readonly name: string
  readonly text: string
  readonly code: string
  readonly strings: string[]
}[] = [
  { name: 'a line comment', text: "a // it's\nb", code: 'a        \nb', strings: [] },
  { name: 'a block comment keeps its line ends', text: 'a /* "x\n*/ b', code: 'a      \n   b', strings: [] },
  {
    name: 'a string with an escaped quote',
    text: String.raw`f('it\'s')`,
    code: "f('     ')",
    strings: [String.raw`it\'s`],
  },
  { name: 'a string that holds a comment', text: 'f("// no")', code: 'f("     ")', strings: ['// no'] },
  { name: 'a template and its placeholder', text: 'f(`a${b}c`)', code: 'f(` ${b} `)', strings: ['a${}c'] },
  {
    name: 'a template inside a template',
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
  test(`parsing tells code from literals: ${name}`, () => {
    const parsed = parseSource('a.ts', text)
    assert.equal(parsed.code, code)
    assert.deepEqual(
      parsed.strings.map((literal) => literal.text),
      strings,
    )
  })
}

test('a template type and a string in JSX are literals too', () => {
  const parsed = parseSource('a.tsx', 'type A = `a${string}c`; const b = <p title="x">y</p>')
  assert.equal(parsed.code, 'type A = ` ${string} `; const b = <p title=" ">y</p>')
  assert.deepEqual(
    parsed.strings.map(({ text }) => text),
    ['a${}c', 'x'],
  )
})

test('a file that is not valid is an error, because no rule could be applied to it', () => {
  assert.throws(() => parseSource('a.ts', 'a /* b'), /^SyntaxError: a\.ts cannot be parsed/)
})

const IMPORTS: readonly { readonly text: string; readonly found: string[] }[] = [
  { text: "import { a } from './a.ts'", found: ['import ./a.ts'] },
  { text: "import a, { b, type C } from './a.ts'", found: ['import ./a.ts'] },
  { text: "import * as a from './a.ts'", found: ['import ./a.ts'] },
  { text: "import {\n  a,\n  b as c,\n} from './a.ts'", found: ['import ./a.ts'] },
  { text: "import type { A } from './a.ts'", found: ['import type ./a.ts'] },
  { text: "import type A from './a.ts'", found: ['import type ./a.ts'] },
  { text: "import type from './a.ts'", found: ['import ./a.ts'] },
  { text: "import './a.ts'", found: ['import ./a.ts'] },
  { text: "export { a } from './a.ts'", found: ['export ./a.ts'] },
  { text: "export * from './a.ts'", found: ['export ./a.ts'] },
  { text: "export type { A } from './a.ts'", found: ['export type ./a.ts'] },
  { text: "export { a }\n\nimport { b } from './b.ts'", found: ['import ./b.ts'] },
  { text: "await import('./a.ts')", found: ['dynamic ./a.ts'] },
  { text: "type A = import('./a.ts').A", found: ['dynamic ./a.ts'] },
  { text: "fork(new URL('./a.ts', import.meta.url))", found: ['url ./a.ts'] },
  { text: "export const from = 'x'\nexport function f() {}", found: [] },
  { text: "// import { a } from './a.ts'", found: [] },
  { text: '`import { a } from "./a.ts"`', found: [] },
  { text: 'await import(`./${name}.ts`)', found: [] },
  { text: 'new URL(path, import.meta.url)', found: [] },
  { text: "import { a } from './a.ts'\nimport { b } from './b.ts'", found: ['import ./a.ts', 'import ./b.ts'] },
]

for (const { text, found } of IMPORTS) {
  test(`imports are found in ${JSON.stringify(text)}`, () => {
    const { imports } = parseSource('a.ts', text)
    assert.deepEqual(
      imports.map(({ kind, typeOnly, specifier }) => `${kind}${typeOnly ? ' type' : ''} ${specifier}`),
      found,
    )
  })
}
