// Builds the documentation: `node src/build.ts <folder>`, in the folder of this package. Writes each page as HTML and
// as Markdown, the search index, and the pages' lines for `/llms.txt`.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { Eleventy } from '@11ty/eleventy'
import { rolldown } from 'rolldown'
import { addContents } from './add-contents.ts'
import { amendMarkdown } from './amend-markdown.ts'
import { listSections } from './list-sections.ts'
import { NAVIGATION } from './navigation.ts'
import { readPages, type Page } from './pages.ts'
import { writeTwin } from './write-twin.ts'

/** Where the service serves the site. */
const BASE = '/docs'
/** The length of the hash in the name of an asset. Because of the hash, browsers may cache the asset forever. */
const HASH_LENGTH = 10
const COMPRESSED = new Set(['.html', '.css', '.js', '.json'])

/** Shown if there is no page at a path. It is not in the menu, in the search or in `/llms.txt`. */
const NOT_FOUND: Page = {
  path: '404',
  title: 'There is no page at this address',
  description: 'There is no page at this address.',
  markdown: `Look in the menu, or search. The [first page](${BASE}/) tells you where to begin.\n`,
  source: null,
}

const folder = process.argv[2] ?? 'dist'
const pages = readPages()
const assets = {
  script: writeAsset('search.js', await bundleScript()),
  styles: writeAsset('site.css', readFileSync(fileHere('../client/site.css'))),
  index: writeAsset('index.json', JSON.stringify(listSections(pages))),
}
await renderPages()
for (const page of pages) write(`${page.path}.md`, writeTwin(page))
write('llms.txt', `\n## Documentation\n\n${pages.map(describePage).join('')}`)
compressFiles()

async function renderPages(): Promise<void> {
  await new Eleventy('pages', folder, {
    quietMode: true,
    config: (config) => {
      config.setTemplateFormats(['md'])
      config.amendLibrary('md', amendMarkdown)
      config.addGlobalData('site', { base: BASE, assets, sections: listMenu() })
      config.setLayoutsDirectory('../layouts')
      config.addGlobalData('layout', 'page.njk')
      // Braces in a page are text, not template syntax.
      config.addGlobalData('templateEngineOverride', 'md')
      config.addGlobalData(
        'permalink',
        () =>
          ({ page }: { page: { filePathStem: string } }) =>
            `${page.filePathStem}.html`,
      )
      const generated = pages.filter(({ source }) => source === null || !source.startsWith('docs/site/pages/'))
      for (const page of [...generated, NOT_FOUND]) config.addTemplate(`${page.path}.md`, withFrontMatter(page))
      config.addTransform('contents', addContents)
    },
  }).write()
}

function withFrontMatter({ title, description, markdown }: Page): string {
  return `---\ntitle: ${JSON.stringify(title)}\ndescription: ${JSON.stringify(description)}\n---\n${markdown}`
}

function listMenu() {
  const titles = new Map(pages.map(({ path, title }) => [path, title]))
  return NAVIGATION.map(({ title, paths }) => ({
    title,
    pages: paths.map((path) => ({
      url: `${BASE}/${path === 'index' ? '' : path}`,
      stem: `/${path}`,
      title: titles.get(path),
    })),
  }))
}

/** The service replaces `{{base_url}}` with its own address. */
function describePage({ path, title, description }: Page): string {
  return `- [${title}]({{base_url}}${BASE}/${path}.md): ${description}\n`
}

async function bundleScript(): Promise<string> {
  const bundle = await rolldown({ input: fileHere('../client/search.js'), platform: 'browser', logLevel: 'warn' })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  await bundle.close()
  return output[0].code
}

/** Writes a file whose name contains a hash of its content. Returns its URL. */
function writeAsset(name: string, content: string | Buffer): string {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, HASH_LENGTH)
  const named = `assets/${name.replace('.', `-${hash}.`)}`
  write(named, content)
  return `${BASE}/${named}`
}

function write(name: string, content: string | Buffer): void {
  const file = join(folder, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}

/** Compresses each file once, as small as possible. The server sends the variant that the client accepts. */
function compressFiles(): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!COMPRESSED.has(extname(name))) continue
    const content = readFileSync(join(folder, name))
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
    write(`${name}.br`, brotliCompressSync(content, { params }))
    write(`${name}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }))
  }
}

function fileHere(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}
