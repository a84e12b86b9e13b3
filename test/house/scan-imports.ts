import type { MaskedSource } from './mask-source.ts'

/** `export` is a re-export, `dynamic` also a type's `import('x')`, `url` a file named by `new URL('x', import.meta.url)`. */
export type ImportKind = 'import' | 'export' | 'dynamic' | 'url'

export interface Import {
  readonly kind: ImportKind
  /** Erased before it runs: `import type`, `export type … from`. */
  readonly typeOnly: boolean
  readonly specifier: string
  /** Offset of the specifier's opening quote. */
  readonly start: number
}

const CLAUSE = String.raw`(?:[\w$]+\s*,\s*)?(?:\{[^{}]*\}|\*\s*(?:as\s+[\w$]+)?|[\w$]+)`
const FORMS: readonly { readonly kind: ImportKind | 'by keyword'; readonly pattern: RegExp }[] = [
  {
    kind: 'by keyword',
    pattern: new RegExp(
      String.raw`(?<![.\w$])(import|export)\s*(\btype\b\s*(?!\s*from\b))?${CLAUSE}\s*from\s*['"]`,
      'g',
    ),
  },
  { kind: 'import', pattern: /(?<![.\w$])import\s*['"]/g },
  { kind: 'dynamic', pattern: /(?<![.\w$])import\s*\(\s*['"`]/g },
  { kind: 'url', pattern: /(?<![.\w$])new\s+URL\s*\(\s*['"`]/g },
]

/** Every file or package that the source names in an import, an export or a URL beside itself. */
export function scanImports(source: MaskedSource): Import[] {
  const textAt = new Map(source.strings.map((literal) => [literal.start, literal.text]))
  const found: Import[] = []
  for (const { kind, pattern } of FORMS) {
    for (const match of source.code.matchAll(pattern)) {
      const start = match.index + match[0].length - 1
      const specifier = textAt.get(start)
      if (specifier === undefined) continue
      const keyword = match[1] === 'export' ? 'export' : 'import'
      found.push({ kind: kind === 'by keyword' ? keyword : kind, typeOnly: match[2] !== undefined, specifier, start })
    }
  }
  return found.toSorted((a, b) => a.start - b.start)
}
