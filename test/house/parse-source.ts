import { parseSync, Visitor, type Program, type TemplateElement } from 'oxc-parser'

/** A string literal in the source. For a template, its `text` is the text between the placeholders, joined by `${}`. */
export interface StringLiteral {
  /** The offset of the opening quote. */
  readonly start: number
  /** The text as it is written in the source, with its escapes. */
  readonly text: string
}

/**
 * How a file names another file. `export` is a re-export. `dynamic` is an `import('x')`, also in a type. `url` is `new
 * URL('x', import.meta.url)` or `import.meta.resolve('x')`.
 */
export type ImportKind = 'import' | 'export' | 'dynamic' | 'url'

export interface Import {
  readonly kind: ImportKind
  /** Whether the import is removed before the program runs: `import type`, `export type … from`. */
  readonly typeOnly: boolean
  readonly specifier: string
  /** The offset of the opening quote of `specifier`. */
  readonly start: number
}

export interface ParsedSource {
  /**
   * The source in which comments, strings and regular expressions are replaced by blanks. All offsets, line ends and
   * quotes stay the same.
   */
  readonly code: string
  readonly strings: readonly StringLiteral[]
  readonly imports: readonly Import[]
  /** Whether the file declares nothing and only re-exports what other files export. */
  readonly isBarrel: boolean
}

type Statement = Program['body'][number]

interface Span {
  readonly start: number
  readonly end: number
}

/**
 * Splits a source file into code and string literals, and lists its imports. So a rule about code does not match a
 * comment or a message, and a rule about SQL is applied to strings only. Throws if the file is not valid, because no
 * rule could be applied to it.
 */
export function parseSource(path: string, text: string): ParsedSource {
  const { program, comments, errors } = parseSync(path, text, { sourceType: 'module' })
  const [error] = errors
  if (error !== undefined) throw new SyntaxError(`${path} cannot be parsed: ${error.message}`)
  const blanks: Span[] = [...comments]
  const strings: StringLiteral[] = []
  const imports: Import[] = []

  const addTemplate = ({ start }: Span, quasis: readonly TemplateElement[]): void => {
    const parts = quasis.map(contentOf)
    blanks.push(...parts)
    strings.push({ start, text: parts.map((part) => text.slice(part.start, part.end)).join('${}') })
  }
  const addImport = (kind: ImportKind, source: Span & { readonly type: string }, typeOnly = false): void => {
    const specifier = readSpecifier(source, text)
    if (specifier !== null) imports.push({ kind, typeOnly, specifier, start: source.start })
  }

  new Visitor({
    Literal(node) {
      const { start, end } = node
      if (typeof node.value === 'string') {
        blanks.push({ start: start + 1, end: end - 1 })
        strings.push({ start, text: text.slice(start + 1, end - 1) })
      } else if ('regex' in node) {
        blanks.push({ start: start + 1, end: start + 1 + node.regex.pattern.length })
      }
    },
    TemplateLiteral: (node) => addTemplate(node, node.quasis),
    TSTemplateLiteralType: (node) => addTemplate(node, node.quasis),
    ImportDeclaration: (node) => addImport('import', node.source, node.importKind === 'type'),
    ExportAllDeclaration: (node) => addImport('export', node.source, node.exportKind === 'type'),
    ExportNamedDeclaration(node) {
      if (node.source !== null) addImport('export', node.source, node.exportKind === 'type')
    },
    ImportExpression: (node) => addImport('dynamic', node.source),
    TSImportType: (node) => addImport('dynamic', node.source),
    NewExpression({ callee, arguments: [first] }) {
      if (callee.type === 'Identifier' && callee.name === 'URL' && first !== undefined) addImport('url', first)
    },
    CallExpression({ callee, arguments: [first] }) {
      if (first !== undefined && text.slice(callee.start, callee.end) === 'import.meta.resolve') addImport('url', first)
    },
  }).visit(program)

  return {
    code: blankOut(text, blanks),
    strings: inOrder(strings),
    imports: inOrder(imports),
    isBarrel: isBarrel(program.body),
  }
}

function isBarrel(statements: readonly Statement[]): boolean {
  const isExport = (statement: Statement): boolean =>
    statement.type === 'ExportAllDeclaration' ||
    (statement.type === 'ExportNamedDeclaration' && statement.declaration === null)
  return (
    statements.some(isExport) &&
    statements.every((statement) => statement.type === 'ImportDeclaration' || isExport(statement))
  )
}

/**
 * Returns where the text of a template's part begins and ends. The parser's own positions include the delimiters: the
 * backtick, `${` and `}`.
 */
function contentOf({ start, end, tail }: TemplateElement): Span {
  return { start: start + 1, end: end - (tail ? 1 : 2) }
}

/** Returns the specifier if it is fixed: a string, or a template without placeholders. Otherwise returns null. */
function readSpecifier({ type, start, end }: Span & { readonly type: string }, text: string): string | null {
  const written = text.slice(start + 1, end - 1)
  if (type === 'Literal') return /^['"]/.test(text.slice(start)) ? written : null
  return type === 'TemplateLiteral' && !written.includes('${') ? written : null
}

function blankOut(text: string, spans: readonly Span[]): string {
  let code = ''
  let at = 0
  for (const { start, end } of inOrder(spans)) {
    code += text.slice(at, start) + text.slice(start, end).replaceAll(/[^\n]/g, ' ')
    at = end
  }
  return code + text.slice(at)
}

function inOrder<Item extends { readonly start: number }>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => a.start - b.start)
}
