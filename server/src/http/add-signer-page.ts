import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import type { FastifyReply } from 'fastify'
import { Problem } from '../values/problem.ts'
import { hostOf } from './hosts.ts'
import type { HttpServer } from './open-http.ts'

/** The folder of the built page. If `isRequired` is true, the page must be there. */
export type SignerDir = { readonly path: string; readonly isRequired: boolean }

export interface SignerPageOptions {
  /** The origin of the signer page; null if there is none. */
  readonly signerUrl: string | null
  /** Null if the service does not serve the page. */
  readonly signerDir: SignerDir | null
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '': 'text/plain; charset=utf-8',
}

/**
 * The page makes no request, submits no form and cannot be embedded. There is no `Cross-Origin-Opener-Policy`, because
 * the page answers the window that opened it.
 */
const PAGE_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'publickey-credentials-get=(self), publickey-credentials-create=(self)',
  'Cache-Control': 'no-cache',
} as const

/**
 * Serves the signer page on the host of `SIGNER_URL`, and nothing else there. Must be called before routes are added.
 * If the page is hosted apart from the service, requests for this host get a 404.
 *
 * Logs a warning if the page is not built, or throws if its folder is required.
 */
export async function addSignerPage(http: HttpServer, { signerUrl, signerDir }: SignerPageOptions): Promise<void> {
  if (signerUrl === null) return
  const signerHost = new URL(signerUrl).host
  const files = signerDir === null ? NO_FILES : await findFiles(http, signerDir)

  http.addHook('onRequest', async (request, reply) => {
    if (hostOf(request) !== signerHost) return
    const path = request.url.split('?')[0] ?? ''
    const content = request.method === 'GET' || request.method === 'HEAD' ? files.get(path) : undefined
    if (content === undefined) throw new Problem('not_found', 'There is no file at this path.')
    return send(reply, path, content)
  })
}

function send(reply: FastifyReply, path: string, content: Buffer): FastifyReply {
  const type = path === '/' ? '.html' : extname(path)
  return reply
    .headers({ ...PAGE_HEADERS, 'Content-Type': CONTENT_TYPES[type] ?? 'application/octet-stream' })
    .send(content)
}

const NO_FILES: ReadonlyMap<string, Buffer> = new Map()

async function findFiles(http: HttpServer, { path, isRequired }: SignerDir): Promise<ReadonlyMap<string, Buffer>> {
  try {
    return await readFiles(path)
  } catch (error) {
    if (isRequired) throw new Error(`There is no signer page in ${path}. Run npm run build.`, { cause: error })
    http.log.warn({ path }, 'the signer page is not built, so it is not served; run npm run build')
    return NO_FILES
  }
}

/** `npm run build` writes this file beside the page. It is not part of the page. */
const STAMP_NAME = 'built-of.txt'

/** Reads all files of the page, by their path. The page is small, and it must not change while the server runs. */
async function readFiles(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = await Promise.all(
    entries
      .filter((entry) => entry.isFile() && entry.name !== STAMP_NAME)
      .map(async (entry) => {
        const file = join(entry.parentPath, entry.name)
        return [`/${relative(folder, file).split(sep).join('/')}`, await readFile(file)] as const
      }),
  )
  const byPath = new Map(files)
  const page = byPath.get('/index.html')
  if (page === undefined) throw new Error('the folder has no index.html')
  return byPath.set('/', page)
}
