import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maskSource } from './mask-source.ts'
import { scanImports } from './scan-imports.ts'

const CASES: readonly { readonly text: string; readonly found: string[] }[] = [
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
  { text: "import { a } from './a.ts'\nimport { b } from './b.ts'", found: ['import ./a.ts', 'import ./b.ts'] },
]

for (const { text, found } of CASES) {
  test(`imports are found in ${JSON.stringify(text)}`, () => {
    const imports = scanImports(maskSource(text))
    assert.deepEqual(
      imports.map(({ kind, typeOnly, specifier }) => `${kind}${typeOnly ? ' type' : ''} ${specifier}`),
      found,
    )
  })
}
