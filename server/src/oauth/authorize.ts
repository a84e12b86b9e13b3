import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Client } from '../domain/connections/client.ts'
import { looksLikeUrl } from '../domain/connections/client-url.ts'
import { findClient } from '../domain/connections/queries.ts'
import { openAuthorizationRequest } from '../domain/connections/open-authorization-request.ts'
import type { Context } from '../domain/context.ts'
import { enforceRateLimit } from '../domain/enforce-rate-limit.ts'
import type { Origins } from '../http/hosts.ts'
import type { HttpServer } from '../http/open-http.ts'
import { clientAddress, clientNetwork } from '../http/client-address.ts'
import { leaveWork } from '../http/overload-gate.ts'
import type { DocumentClients } from './document-clients.ts'
import type { OauthOptions } from './oauth-options.ts'
import { checkAuthorization } from './authorization-steps.ts'
import { rejectOtherMethods } from './reject-other-methods.ts'
import { InvalidClient, InvalidRequest, OauthError } from './oauth-error.ts'
import { getParameter, listParameter, parseParameters, type RequestParameters } from './parameters.ts'
import { findRedirectUriFault, formatAnswerUri, isRegistered, parseRedirectUri } from './redirect-uri.ts'

const PATH = '/oauth/authorize'

interface AuthorizeOptions extends OauthOptions {
  readonly documents: DocumentClients
}

/**
 * Adds the authorization endpoint (RFC 6749, section 3.1). It stores a valid request and redirects the user to the
 * consent page. An error in the client id or the redirect URI is shown on an error page. Every other error is sent to
 * the client by a redirect if a user is signed in, and shown on an error page if not. Anyone can register a client, so
 * a redirect without a signed-in user would be an open redirect (D35; RFC 9700, section 4.11.2).
 */
export function addAuthorize(scope: HttpServer, ctx: Context, options: AuthorizeOptions): void {
  scope.get(PATH, { exposeHeadRoute: false, schema: { hide: true } }, async (request, reply) => {
    await enforceRateLimit(ctx, { subject: clientAddress(request), bucket: 'authorize' })
    const parameters = parseParameters(readQuery(request))
    const client = await getClient(ctx, parameters, { ...options, request })
    const redirectUri = getRedirectUri(parameters, { client, origins: options })
    try {
      const checked = checkAuthorization({ parameters, client, origins: options })
      const { state, scopes, codeChallenge, resource, agentId } = checked
      const asked = { clientId: client.id, redirectUri, state, scopes, codeChallenge, resource, agentId }
      const handle = await openAuthorizationRequest(ctx, asked)
      return reply.redirect(`${options.authUrl}/consent?request=${handle}`, 302)
    } catch (error) {
      if (!(error instanceof OauthError) || (await options.readSession(request)) === null) throw error
      return redirectError(reply, { redirectUri, error, state: soleValue(parameters, 'state'), iss: options.authUrl })
    }
  })
  rejectOtherMethods(scope, PATH, { allowed: ['GET'] })
}

/**
 * Returns the client. A client id that is a URL may cause a fetch, which has limits of its own. A
 * registered id never does.
 */
async function getClient(
  ctx: Context,
  parameters: RequestParameters,
  { documents, clientDocuments, request }: AuthorizeOptions & { request: FastifyRequest },
): Promise<Client> {
  const id = getParameter(parameters, 'client_id')
  if (looksLikeUrl(id)) {
    if (clientDocuments) {
      leaveWork(request)
      return await documents.get({ url: id, address: clientAddress(request), network: clientNetwork(request) })
    }
    throw new InvalidClient('This server does not support client metadata documents. Register the client.', {
      parameter: 'client_id',
    })
  }
  const client = await findClient(ctx, { id })
  if (client !== null) return client
  throw new InvalidClient('No client is registered with this client_id.', { parameter: 'client_id' })
}

function getRedirectUri(
  parameters: RequestParameters,
  { client, origins }: { client: Client; origins: Origins },
): string {
  const parameter = 'redirect_uri'
  const text = getParameter(parameters, parameter)
  const ownOrigins = [origins.baseUrl, origins.authUrl]
  const uri = parseRedirectUri(text, ownOrigins)
  if (uri !== null && isRegistered(uri, client.redirectUris)) return text
  const fault = findRedirectUriFault(text, ownOrigins)
  const message =
    fault === null
      ? 'redirect_uri is not registered for this client. It must match a registered URI character by character.'
      : `redirect_uri is not registered for this client, because it ${fault}.`
  throw new InvalidRequest(message, { parameter })
}

/** Redirects to the client with an error (RFC 6749, section 4.1.2.1), and with `iss` (RFC 9207, section 2). */
function redirectError(
  reply: FastifyReply,
  given: { redirectUri: string; error: OauthError; state: string | null; iss: string },
): FastifyReply {
  const { redirectUri, error, state, iss } = given
  const answer = {
    error: error.error,
    error_description: error.message,
    ...(state === null ? {} : { state }),
    iss,
  }
  return reply.redirect(formatAnswerUri(redirectUri, answer), 302)
}

/**
 * Returns the value of a parameter that was sent once, otherwise null. If there are several values, it is unknown which
 * one the client expects back.
 */
function soleValue(parameters: RequestParameters, name: string): string | null {
  const [value, ...others] = listParameter(parameters, name)
  return others.length === 0 ? (value ?? null) : null
}

/**
 * Returns the bytes of the query exactly as they were sent. The framework's parser would silently repair invalid bytes.
 * In `request.raw.url`, Node provides one character for each byte.
 */
function readQuery(request: FastifyRequest): Buffer {
  const { url = '' } = request.raw
  const start = url.indexOf('?')
  return Buffer.from(start < 0 ? '' : url.slice(start + 1), 'latin1')
}
