import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fastifyStatic } from '@fastify/static'
import type { FastifyReply } from 'fastify'
import type { HttpServer } from '../http/open-http.ts'
import { setPageHeaders } from '../http/page-headers.ts'
import { Problem } from '../values/problem.ts'

/** The paths of the dashboard's pages. All of them return the same HTML file. */
const PAGE_PATHS = [
  ...['/', '/sign-in', '/sign-up', '/recover', '/invite/:token', '/consent', '/account'],
  ...['/w/:slug', '/w/:slug/*'],
]
/**
 * Paths that programs call. Under them, an unknown path gets the JSON error envelope, even if the request asks for HTML
 * (D4, D5).
 */
const PROGRAM_PATHS = /^\/(?:v1|console|oauth|log|\.well-known|assets)(?:[/?]|$)/
const HTML_PATTERN = /\btext\/html\b/i
/** How long browsers may cache an asset. Assets never change, because their names contain a hash of their content. */
const ASSET_SECONDS = 365 * 24 * 60 * 60

/** Reads the HTML file that all pages of the dashboard share. Throws if the dashboard has not been built. */
export async function readDashboardPage(dashboardDir: string): Promise<Buffer> {
  try {
    return await readFile(join(dashboardDir, 'index.html'))
  } catch (error) {
    throw new Error('The dashboard is not built. Run npm run build.', { cause: error })
  }
}

/**
 * Serves the assets, and the HTML file that all pages share. If a browser requests an unknown path, it gets this HTML
 * file too, with status 404.
 */
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
  pages.get('/*', { config: { isUnknownPath: true }, schema: { hide: true } }, async (request, reply) => {
    const wantsPage = HTML_PATTERN.test(request.headers.accept ?? '') && !PROGRAM_PATHS.test(request.url)
    if (!wantsPage) throw new Problem('not_found', 'There is no endpoint at this path.')
    return sendPage(reply, 404)
  })
  await pages.register(fastifyStatic, {
    root: join(dashboardDir, 'assets'),
    prefix: '/assets/',
    // Each file that exists now gets its own route, so that no path can lead outside the folder.
    wildcard: false,
    // The build wrote compressed copies beside the files. They are sent instead of the files, but have no routes of
    // their own.
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
