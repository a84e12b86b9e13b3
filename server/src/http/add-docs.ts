import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { fastifyStatic } from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpServer } from './open-http.ts'

/** Where the documentation is, on both hosts. */
const BASE = '/docs'
/** How long browsers may cache an asset. Assets never change, because their names contain a hash of their content. */
const ASSET_SECONDS = 365 * 24 * 60 * 60
const NOT_FOUND_FILE = '404.html'
/** Contains the pages' lines for `/llms.txt`. The build writes this file beside the pages, but it is not a page. */
const INDEX_FILE = 'llms.txt'
const MARKDOWN_PATTERN = /\btext\/markdown\b/i

const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const

/**
 * Serves the documentation below `/docs`, on both hosts, without a credential. Each page also exists as Markdown, at
 * its path with the suffix `.md`. A request that accepts `text/markdown` gets the Markdown at the page's path too.
 *
 * Logs a warning if the documentation is not built. Then its paths respond like every unknown path.
 */
export async function addDocs(http: HttpServer, { docsDir }: { readonly docsDir: string }): Promise<void> {
  const files = await listFiles(docsDir)
  if (files === null) {
    http.log.warn({ path: docsDir }, 'the documentation is not built, so it is not served; run npm run build')
    return
  }
  const notFound = await readFile(join(docsDir, NOT_FOUND_FILE))
  await http.register(async (scope: HttpServer) => {
    // The files are sent only by the route below, which knows their names, so that no path can lead to another file.
    await scope.register(fastifyStatic, {
      root: docsDir,
      serve: false,
      preCompressed: true,
      cacheControl: false,
      setHeaders: setFileHeaders,
    })
    scope.get(BASE, { schema: { hide: true } }, async (_request, reply) => reply.redirect(`${BASE}/`, 308))
    scope.get(`${BASE}/*`, { schema: { hide: true } }, async (request, reply) => {
      void reply.header('Vary', 'Accept')
      const file = findFile(request, files)
      if (file !== null) return reply.sendFile(file)
      return sendNotFound(reply, notFound)
    })
  })
}

/**
 * Returns the pages' lines for `/llms.txt`, with `{{base_url}}` in place of the service's address. The text is empty if
 * the documentation is not built.
 */
export async function readDocsIndex(docsDir: string): Promise<string> {
  return await readFile(join(docsDir, INDEX_FILE), 'utf8').catch(() => '')
}

/** Lists the files that can be requested, or returns null if there is no documentation. */
async function listFiles(docsDir: string): Promise<ReadonlySet<string> | null> {
  const entries = await readdir(docsDir, { recursive: true, withFileTypes: true }).catch(() => [])
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(docsDir, join(entry.parentPath, entry.name)).split(sep).join('/'))
  // The compressed copies are sent in place of their files, and have no paths of their own.
  const files = new Set(names.filter((name) => /\.(?:html|md|css|js|json)$/.test(name)))
  return files.has(NOT_FOUND_FILE) ? files : null
}

/** Finds the file for a request: an asset, a page, or the Markdown of a page. */
function findFile({ url, headers }: FastifyRequest, files: ReadonlySet<string>): string | null {
  const path = (url.split('?')[0] ?? '').slice(BASE.length + 1)
  const page = path === '' ? 'index' : path
  const wantsMarkdown = MARKDOWN_PATTERN.test(headers.accept ?? '')
  const candidates = wantsMarkdown ? [`${page}.md`, path, `${page}.html`] : [`${page}.html`, path]
  const found = candidates.find((name) => files.has(name)) ?? null
  // Each page has one address, so a path such as `/docs/index.html` has no file.
  return found !== null && found === path && found.endsWith('.html') ? null : found
}

/** Pages are checked by their ETag at each visit. Assets are cached forever. */
function setFileHeaders(reply: FastifyReply, path: string): void {
  const isAsset = path.includes(`${sep}assets${sep}`)
  const caching = isAsset ? `public, max-age=${ASSET_SECONDS}, immutable` : 'no-cache'
  void reply.headers({ ...HEADERS, 'Cache-Control': caching })
}

function sendNotFound(reply: FastifyReply, page: Buffer): FastifyReply {
  return reply
    .code(404)
    .headers({ ...HEADERS, 'Cache-Control': 'no-store', 'Content-Type': 'text/html; charset=utf-8' })
    .send(page)
}
