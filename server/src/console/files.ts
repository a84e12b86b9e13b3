import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fastifyStatic } from '@fastify/static'
import type { FastifyReply } from 'fastify'
import type { HttpServer } from '../http/open-http.ts'
import { setPageHeaders } from '../http/page-headers.ts'
import { Problem } from '../values/problem.ts'

/** The addresses that the dashboard itself knows; each of them is the one page. */
const PAGE_PATHS = [
  ...['/', '/sign-in', '/sign-up', '/recover', '/invite/:token', '/consent', '/account'],
  ...['/w/:slug', '/w/:slug/*'],
]
/** What programs ask: there an unknown path is the error envelope, whatever is accepted (D4, D5). */
const PROGRAM_PATHS = /^\/(?:v1|console|oauth|\.well-known|assets)(?:[/?]|$)/
const HTML_PATTERN = /\btext\/html\b/i
/** Their names hold a hash of their content. */
const ASSET_SECONDS = 365 * 24 * 60 * 60

/** The dashboard's one page. */
export async function readPage(dashboardDir: string): Promise<Buffer> {
  try {
    return await readFile(join(dashboardDir, 'index.html'))
  } catch (error) {
    throw new Error('The dashboard is not built. Run npm run build.', { cause: error })
  }
}

/** Its pages, its assets, and for a browser a page where there is none. */
export async function addFiles(
  pages: HttpServer,
  { dashboardDir, page }: { dashboardDir: string; page: Buffer },
): Promise<void> {
  const sendPage = (reply: FastifyReply, status: number): FastifyReply => {
    setPageHeaders(reply)
    return reply.code(status).send(page)
  }

  for (const path of PAGE_PATHS) {
    pages.get(path, { schema: { hide: true } }, async (_request, reply) => sendPage(reply, 200))
  }
  pages.get('/*', { schema: { hide: true } }, async (request, reply) => {
    const wantsPage = HTML_PATTERN.test(request.headers.accept ?? '') && !PROGRAM_PATHS.test(request.url)
    if (!wantsPage) throw new Problem('not_found', 'No such path.')
    return sendPage(reply, 404)
  })
  await pages.register(fastifyStatic, {
    root: join(dashboardDir, 'assets'),
    prefix: '/assets/',
    // A route for each file that is there now, and so none that leads anywhere else.
    wildcard: false,
    // The build has laid a compressed copy beside each; it is no file of its own.
    preCompressed: true,
    globIgnore: ['**/*.{br,gz}'],
    decorateReply: false,
    index: false,
    immutable: true,
    maxAge: ASSET_SECONDS * 1_000,
    setHeaders: (reply) => {
      void reply.headers({ 'X-Content-Type-Options': 'nosniff', 'Cross-Origin-Resource-Policy': 'same-origin' })
    },
  })
}
