import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { writeCommandReference } from './reference/command-line.ts'
import { writeControlReference } from './reference/control-api.ts'
import { writeErrorReference } from './reference/errors.ts'
import { writeApiReference } from './reference/api.ts'
import { NAVIGATION } from './navigation.ts'

/** A page of the site. */
export interface Page {
  /** Its path below `/docs/`, without a suffix, such as `hosts/cursor`. */
  readonly path: string
  readonly title: string
  /** One sentence for search results and for `/llms.txt`. */
  readonly description: string
  /** Its text in Markdown, without the front matter. */
  readonly markdown: string
  /** The file in which the text is written, from the project's root. Null for a page that is generated. */
  readonly source: string | null
}

const ROOT = new URL('../../../', import.meta.url)
const PAGES = new URL('../pages/', import.meta.url)
const EXAMPLES = 'sdk/examples'
/** A line of this form in a page is replaced by an example of the client. */
const EXAMPLE_LINE = /^\{\{(?<name>[\w-]+\.ts)\}\}$/gm
/** Pages whose text is a file elsewhere in the project. People also read the file there. */
const INCLUDED: readonly Omit<Page, 'markdown'>[] = [
  {
    path: 'threat-model',
    title: 'Security and threat model',
    description: 'What counts as a vulnerability, and what an attacker can and cannot do.',
    source: 'SECURITY.md',
  },
  {
    path: 'glossary',
    title: 'Glossary',
    description: 'The terms of this documentation, of the API and of the source code.',
    source: 'docs/glossary.md',
  },
  {
    path: 'operate/signer-page',
    title: 'Host the signer page',
    description: 'Where owners sign with their wallet passkeys, and why this page needs a host of its own.',
    source: 'docs/signer-page.md',
  },
]
/** In included files, links to these files are replaced by links to the pages of the site. */
const LINKS_OF_INCLUDED: readonly (readonly [RegExp, string])[] = [
  [/\]\((?:docs\/|\.\.\/)?signer-page\.md/g, '](operate/signer-page.md'],
  [/\]\((?:\.\.\/)?SECURITY\.md/g, '](threat-model.md'],
]

/**
 * The other relative links of an included file lead to files that are not on the site. Only the text of these links is
 * kept.
 */
const LINK_TO_SOURCES =
  /\[(?<text>[^\]]+)\]\((?!https?:|#|operate\/|(?:\.\.\/)+(?:operate|threat-model)|threat-model)[^)]+\)/g

/** Reads the pages in `pages/` and the included files, and generates the reference. Returns all in the menu's order. */
export function readPages(): readonly Page[] {
  const written = readdirSync(PAGES, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => readPage(file.replaceAll('\\', '/')))
  const generated = [
    ...writeApiReference(readText('openapi.json')),
    writeErrorReference(readText('openapi.json')),
    writeControlReference(),
    writeCommandReference(),
  ]
  const pages = [...written, ...INCLUDED.map(include), ...generated.map((page) => ({ ...page, source: null }))]
  const byPath = new Map(pages.map((page) => [page.path, page]))
  const inMenu = NAVIGATION.flatMap(({ paths }) => paths)
  const unlisted = [...byPath.keys()].filter((path) => !inMenu.includes(path))
  if (unlisted.length > 0) throw new Error(`Add these pages to docs/site/src/navigation.ts: ${unlisted.join(', ')}`)
  return inMenu.map((path) => {
    const page = byPath.get(path)
    if (page === undefined) throw new Error(`docs/site/src/navigation.ts names a page that does not exist: ${path}`)
    return page
  })
}

function readPage(file: string): Page {
  const written = readFileSync(new URL(file, PAGES), 'utf8')
  const found = /^---\ntitle: (?<title>.+)\ndescription: (?<description>.+)\n---\n+(?<markdown>.*)$/s.exec(
    written,
  )?.groups
  if (found === undefined) throw new Error(`docs/site/pages/${file} must begin with a title and a description`)
  const { title = '', description = '', markdown = '' } = found
  const text = markdown.replaceAll(EXAMPLE_LINE, (_line, name: string) => showExample(name))
  return { path: file.replace(/\.md$/, ''), title, description, markdown: text, source: `docs/site/pages/${file}` }
}

function showExample(name: string): string {
  return `\`\`\`ts not-run="a test of the client runs it against failures"\n${readText(`${EXAMPLES}/${name}`)}\`\`\``
}

function include(page: Omit<Page, 'markdown'>): Page {
  // The layout writes the title, so the file's own first heading is left out.
  const text = readText(page.source ?? '').replace(/^# .+\n+/, '')
  const up = '../'.repeat(page.path.split('/').length - 1)
  const markdown = LINKS_OF_INCLUDED.reduce(
    (linked, [pattern, target]) => linked.replaceAll(pattern, target.replace('](', `](${up}`)),
    text,
  )
  return { ...page, markdown: markdown.replaceAll(LINK_TO_SOURCES, '$<text>') }
}

function readText(file: string): string {
  return readFileSync(fileURLToPath(new URL(file, ROOT)), 'utf8')
}
