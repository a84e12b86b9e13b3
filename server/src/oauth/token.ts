import type { Client } from '../domain/connections/client.ts'
import { CODE_REFUSED, type TokenRefusal, type Tokens } from '../domain/connections/tokens.ts'
import { exchangeCode } from '../domain/connections/exchange-code.ts'
import { refreshTokens } from '../domain/connections/refresh-tokens.ts'
import type { Context } from '../domain/context.ts'
import { checkMoved } from '../domain/moves/check-moved.ts'
import type { Origins } from '../http/hosts.ts'
import type { HttpServer } from '../http/open-http.ts'
import { readProcessMs } from '../lib/clock.ts'
import { formatScopes, parseScopes, type Scope } from '../values/scope.ts'
import { identifyClient } from './identify-client.ts'
import { readForm } from './form.ts'
import { rejectOtherMethods } from './reject-other-methods.ts'
import { InvalidGrant, InvalidRequest, InvalidScope, InvalidTarget, UnsupportedGrantType } from './oauth-error.ts'
import { checkNoRepetition, findParameter, getParameter, type RequestParameters } from './parameters.ts'
import { isRegistered, parseRedirectUri } from './redirect-uri.ts'
import { parseResource } from './resource.ts'

const PATH = '/oauth/token'

interface Asked {
  readonly parameters: RequestParameters
  readonly client: Client
  readonly origins: Origins
  /** When the whole request had arrived, in the time of `readProcessMs`. */
  readonly arrivedAtMs: number
}

/** The supported OAuth grants by their `grant_type` (specification, part 4). */
const GRANTS: Readonly<Record<string, (ctx: Context, asked: Asked) => Promise<Tokens | TokenRefusal>>> = {
  authorization_code: exchange,
  refresh_token: refresh,
}

const REFUSALS = { invalid_grant: InvalidGrant, invalid_scope: InvalidScope, invalid_target: InvalidTarget } as const

/** Adds the token endpoint (RFC 6749, section 3.2). Its parameters are read from the body only. */
export function addToken(scope: HttpServer, ctx: Context, origins: Origins): void {
  scope.post(PATH, { schema: { hide: true } }, async (request, reply) => {
    const arrivedAtMs = readProcessMs()
    const parameters = readForm(request.body)
    const client = await identifyClient(ctx, request, { parameters, bucket: 'token' })
    checkNoRepetition(parameters)
    if (client === null) throw InvalidRequest.missing('client_id')
    const outcome = await getGrant(parameters)(ctx, { parameters, client, origins, arrivedAtMs })
    if (outcome.kind === 'refused') {
      await checkMoved(ctx, credentialIn(parameters))
      throw new REFUSALS[outcome.error](outcome.description)
    }
    return reply.send(formatTokens(outcome))
  })
  rejectOtherMethods(scope, PATH, { allowed: ['POST'], besides: ['OPTIONS'] })
}

/** Returns the code or refresh token of a request. */
function credentialIn(parameters: RequestParameters): string {
  return findParameter(parameters, 'refresh_token') ?? getParameter(parameters, 'code')
}

function getGrant(parameters: RequestParameters) {
  const parameter = 'grant_type'
  const grant = new Map(Object.entries(GRANTS)).get(getParameter(parameters, parameter))
  if (grant !== undefined) return grant
  throw new UnsupportedGrantType(`The supported grant types are ${Object.keys(GRANTS).join(' and ')}.`, { parameter })
}

/**
 * Exchanges a code for tokens (RFC 6749, section 4.1.3). A `scope` is ignored: the user decided on the scopes. Rejects
 * the code if the client's document has removed the redirect URI since the authorization (D73).
 */
async function exchange(ctx: Context, { parameters, client, origins }: Asked): Promise<Tokens | TokenRefusal> {
  const redirectUri = getParameter(parameters, 'redirect_uri')
  if (client.kind === 'document' && !isStillRegistered(redirectUri, client)) return CODE_REFUSED
  return await exchangeCode(ctx, {
    code: getParameter(parameters, 'code'),
    redirectUri,
    codeVerifier: getParameter(parameters, 'code_verifier'),
    clientId: client.id,
    resource: parseResource(parameters, origins),
  })
}

function isStillRegistered(redirectUri: string, client: Client): boolean {
  const uri = parseRedirectUri(redirectUri, [])
  return uri !== null && isRegistered(uri, client.redirectUris)
}

/** Refreshes tokens: a `scope` here can only select some of the granted scopes (RFC 6749, section 6). */
function refresh(ctx: Context, { parameters, client, origins, arrivedAtMs }: Asked): Promise<Tokens | TokenRefusal> {
  return refreshTokens(ctx, {
    refreshToken: getParameter(parameters, 'refresh_token'),
    arrivedAtMs,
    scopes: parseNarrowedScopes(parameters),
    clientId: client.id,
    resource: parseResource(parameters, origins),
  })
}

/**
 * Returns the requested scopes without the unknown ones (D50), or null if there is no `scope`. Returns an empty list if
 * the `scope` is malformed, or if no known scope is left. Then `refreshTokens` rejects the request (RFC 6749, section
 * 6). This function does not throw, because `refreshTokens` must first detect a second use of the refresh token.
 */
function parseNarrowedScopes(parameters: RequestParameters): readonly Scope[] | null {
  const text = findParameter(parameters, 'scope')
  return text === null ? null : (parseScopes(text) ?? [])
}

/**
 * `scope` is always included, because the user can grant fewer scopes than the client requested (RFC 6749, section
 * 5.1).
 */
function formatTokens({ accessToken, refreshToken, scopes, expiresInSeconds }: Tokens) {
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
    refresh_token: refreshToken,
    scope: formatScopes(scopes),
  }
}
