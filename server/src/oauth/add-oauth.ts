import { readFileSync } from 'node:fs'
import type { Context } from '../domain/context.ts'
import { allowCrossOrigin } from '../http/cross-origin.ts'
import { onAuthHostOnly, onDashboardOnly, type Origins } from '../http/hosts.ts'
import type { HttpServer } from '../http/open-http.ts'
import { setPageHeaders } from '../http/page-headers.ts'
import { addAuthorize } from './authorize.ts'
import { openDocumentClients } from './document-clients.ts'
import { addConsent } from './consent.ts'
import { acceptFormsOnly } from './form.ts'
import { addMetadata } from './metadata.ts'
import type { OauthOptions } from './oauth-options.ts'
import { STYLE_PATH } from './page.ts'
import { addRegister } from './register.ts'
import { addRevoke } from './revoke.ts'
import { sendErrorPage } from './send-error-page.ts'
import { createJsonErrorHandler } from './error-response.ts'
import { FORM, JSON_METADATA } from './to-oauth-error.ts'
import { addToken } from './token.ts'

const STYLE_FILE = new URL('page.css', import.meta.url)

/**
 * Adds the authorization server, on the host of `AUTH_URL` (D1). Endpoints for programs respond with JSON, and
 * endpoints that users open in a browser respond with pages. The error responses of an endpoint have the same form as
 * its other responses (D35). Scripts of other sites can call the endpoints for programs, but not the endpoints for
 * browsers (D41).
 */
export async function addOauth(http: HttpServer, ctx: Context, options: OauthOptions): Promise<void> {
  const documents = openDocumentClients(ctx, { ownOrigins: [options.baseUrl, options.authUrl] })
  http.addHook('onClose', async () => documents.close())
  await http.register(async (scope: HttpServer) => {
    scope.setErrorHandler(createJsonErrorHandler(FORM))
    addMetadata(scope, options)
  })
  await http.register(async (scope: HttpServer) => {
    servePrograms(scope, options)
    scope.setErrorHandler(createJsonErrorHandler(FORM))
    acceptFormsOnly(scope)
    addToken(scope, ctx, options)
    addRevoke(scope, ctx)
  })
  await http.register(async (scope: HttpServer) => {
    servePrograms(scope, options)
    scope.setErrorHandler(createJsonErrorHandler(JSON_METADATA))
    addRegister(scope, ctx, options)
  })
  await http.register(async (scope: HttpServer) => {
    scope.addHook('onRequest', onDashboardOnly(options))
    scope.addHook('onRequest', async (_request, reply) => setPageHeaders(reply))
    scope.addHook('onRequest', scope.overloadGate.hook)
    scope.setErrorHandler(sendErrorPage)
    acceptFormsOnly(scope)
    addAuthorize(scope, ctx, { ...options, documents })
    addConsent(scope, ctx, options)
  })
  addPageStyle(http)
}

function servePrograms(scope: HttpServer, origins: Origins): void {
  allowCrossOrigin(scope)
  scope.addHook('onRequest', onAuthHostOnly(origins))
  scope.addHook('onRequest', scope.overloadGate.hook)
  scope.addHook('onRequest', async (_request, reply) => {
    // Responses that contain tokens must not be cached (RFC 6749, section 5.1).
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
