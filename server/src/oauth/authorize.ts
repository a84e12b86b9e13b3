import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Client } from '../domain/connections/client.ts'
import { findClient } from '../domain/connections/queries.ts'
import { openAuthorizationRequest } from '../domain/connections/open-authorization-request.ts'
import type { Context } from '../domain/context.ts'
import { enforceRateLimit } from '../domain/enforce-rate-limit.ts'
import type { Origins } from '../http/hosts.ts'
import type { HttpServer } from '../http/open-http.ts'
import { clientAddress } from '../http/client-address.ts'
import type { OauthOptions } from './oauth-options.ts'
import { checkAuthorization } from './authorization-steps.ts'
import { rejectOtherMethods } from './reject-other-methods.ts'
import { InvalidClient, InvalidRequest, OauthError } from './oauth-error.ts'
import { getParameter, listParameter, parseParameters, type RequestParameters } from './parameters.ts'
import { formatAnswerUri, isRegistered, parseRedirectUri } from './redirect-uri.ts'

const PATH = '/oauth/authorize'

/**
 * Adds the authorization endpoint (RFC 6749, section 3.1). It stores a valid request and redirects the user to the
 * consent page. An error in the client's id or redirect URI is shown as a page. While nobody is signed in, so is every
 * other error: anyone can register a client, so redirecting to it would be an open redirect (D35; RFC 9700, section
 * 4.11.2).
 */
export function addAuthorize(scope: HttpServer, ctx: Context, options: OauthOptions): void {
  scope.get(PATH, { exposeHeadRoute: false, schema: { hide: true } }, async (request, reply) => {
    await enforceRateLimit(ctx, { subject: clientAddress(request), bucket: 'authorize' })
    const parameters = parseParameters(readQuery(request))
    const client = await getClient(ctx, parameters)
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

async function getClient(ctx: Context, parameters: RequestParameters): Promise<Client> {
  const client = await findClient(ctx, { id: getParameter(parameters, 'client_id') })
  if (client !== null) return client
  throw new InvalidClient('No client is registered with this client_id.', { parameter: 'client_id' })
}

function getRedirectUri(
  parameters: RequestParameters,
  { client, origins }: { client: Client; origins: Origins },
): string {
  const parameter = 'redirect_uri'
  const text = getParameter(parameters, parameter)
  const uri = parseRedirectUri(text, [origins.baseUrl, origins.authUrl])
  if (uri !== null && isRegistered(uri, client.redirectUris)) return text
  const message =
    'redirect_uri is not registered for this client. It must match a registered URI character by character.'
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
 * Returns the value of a parameter that is sent once. With several values, it is unknown which one the client expects
 * back.
 */
function soleValue(parameters: RequestParameters, name: string): string | null {
  const [value, ...others] = listParameter(parameters, name)
  return others.length === 0 ? (value ?? null) : null
}

/**
 * Returns the bytes of the query as sent: the framework's parser would repair them. Node provides one character per
 * byte.
 */
function readQuery(request: FastifyRequest): Buffer {
  const { url = '' } = request.raw
  const start = url.indexOf('?')
  return Buffer.from(start < 0 ? '' : url.slice(start + 1), 'latin1')
}
