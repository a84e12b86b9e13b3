import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fastifyStatic } from '@fastify/static'
import type { FastifyReply } from 'fastify'
import type { HttpServer } from '../http/open-http.ts'
import { setPageHeaders } from '../http/page-headers.ts'
import { Problem } from '../values/problem.ts'

/** The paths of the dashboard's pages. All of them are the same file. */
const PAGE_PATHS = [
  ...['/', '/sign-in', '/sign-up', '/recover', '/invite/:token', '/consent', '/account'],
  ...['/w/:slug', '/w/:slug/*'],
]
/** Paths that programs call. An unknown one gets the error envelope, whatever the request accepts (D4, D5). */
const PROGRAM_PATHS = /^\/(?:v1|console|oauth|\.well-known|assets)(?:[/?]|$)/
const HTML_PATTERN = /\btext\/html\b/i
/** Assets never change: their names contain a hash of their content. */
const ASSET_SECONDS = 365 * 24 * 60 * 60

/** Reads the HTML file that is every page of the dashboard. Throws if the dashboard has not been built. */
export async function readPage(dashboardDir: string): Promise<Buffer> {
  try {
    return await readFile(join(dashboardDir, 'index.html'))
  } catch (error) {
    throw new Error('The dashboard is not built. Run npm run build.', { cause: error })
  }
}

/** Serves the pages and the assets. A browser that asks for an unknown path gets the page too, with status 404. */
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
    if (!wantsPage) throw new Problem('not_found', 'There is no endpoint at this path.')
    return sendPage(reply, 404)
  })
  await pages.register(fastifyStatic, {
    root: join(dashboardDir, 'assets'),
    prefix: '/assets/',
    // One route per file that exists now, so that no path can lead outside the folder.
    wildcard: false,
    // The build wrote compressed copies beside the files. They are not served under their own names.
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
