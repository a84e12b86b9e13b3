import { readFileSync } from 'node:fs'
import type { Context } from '../domain/context.ts'
import { allowCrossOrigin } from '../http/cross-origin.ts'
import { onAuthHostOnly, type Origins } from '../http/hosts.ts'
import type { HttpServer } from '../http/open-http.ts'
import { setPageHeaders } from '../http/page-headers.ts'
import { addAuthorize } from './authorize.ts'
import { addConsent } from './consent.ts'
import { takeFormsOnly } from './form.ts'
import { addMetadata } from './metadata.ts'
import type { OauthOptions } from './oauth-options.ts'
import { STYLE_PATH } from './page.ts'
import { addRegister } from './register.ts'
import { addRevoke } from './revoke.ts'
import { sendErrorPage } from './send-error-page.ts'
import { createJsonErrorHandler } from './error-answer.ts'
import { FORM, JSON_METADATA } from './to-oauth-error.ts'
import { addToken } from './token.ts'

const STYLE_FILE = new URL('page.css', import.meta.url)

/**
 * The authorization server's door, on the host of `AUTH_URL` (D1). Every endpoint's answers have its kind of body, errors
 * too (D35): JSON for programs, pages for browsers. Pages of other sites may call the former, never the latter (D41).
 */
export async function addOauth(http: HttpServer, ctx: Context, options: OauthOptions): Promise<void> {
  await http.register(async (scope: HttpServer) => {
    scope.setErrorHandler(createJsonErrorHandler(FORM))
    addMetadata(scope, options)
  })
  await http.register(async (scope: HttpServer) => {
    answerPrograms(scope, { '/oauth/token': 'POST', '/oauth/revoke': 'POST' }, options)
    scope.setErrorHandler(createJsonErrorHandler(FORM))
    takeFormsOnly(scope)
    addToken(scope, ctx, options)
    addRevoke(scope, ctx)
  })
  await http.register(async (scope: HttpServer) => {
    answerPrograms(scope, { '/oauth/register': 'POST' }, options)
    scope.setErrorHandler(createJsonErrorHandler(JSON_METADATA))
    addRegister(scope, ctx, options)
  })
  await http.register(async (scope: HttpServer) => {
    scope.addHook('onRequest', onAuthHostOnly(options))
    scope.addHook('onRequest', async (_request, reply) => setPageHeaders(reply))
    scope.setErrorHandler(sendErrorPage)
    takeFormsOnly(scope)
    addAuthorize(scope, ctx, options)
    addConsent(scope, ctx, options)
  })
  addPageStyle(http)
}

function answerPrograms(scope: HttpServer, paths: Readonly<Record<string, string>>, origins: Origins): void {
  allowCrossOrigin(scope, paths)
  scope.addHook('onRequest', onAuthHostOnly(origins))
  scope.addHook('onRequest', async (_request, reply) => {
    // Responses that hold tokens must not be cached (RFC 6749, section 5.1).
    void reply.headers({ 'Cache-Control': 'no-store', Pragma: 'no-cache' })
  })
}

function addPageStyle(http: HttpServer): void {
  const style = readFileSync(STYLE_FILE, 'utf8')
  http.get(STYLE_PATH, { schema: { hide: true } }, async (_request, reply) =>
    reply
      .headers({
        'Content-Type': 'text/css; charset=utf-8',
        'Cache-Control': 'public, max-age=3600',
        'X-Content-Type-Options': 'nosniff',
      })
      .send(style),
  )
}
