import type { Client } from '../domain/connections/client.ts'
import type { TokenRefusal, Tokens } from '../domain/connections/tokens.ts'
import { exchangeCode } from '../domain/connections/exchange-code.ts'
import { refreshTokens } from '../domain/connections/refresh-tokens.ts'
import type { Context } from '../domain/context.ts'
import type { Origins } from '../http/hosts.ts'
import type { HttpServer } from '../http/open-http.ts'
import { formatScopes, parseScopes, type Scope } from '../values/scope.ts'
import { takeClient } from './take-client.ts'
import { readForm } from './form.ts'
import { refuseOtherMethods } from './refuse-other-methods.ts'
import { InvalidGrant, InvalidRequest, InvalidScope, InvalidTarget, UnsupportedGrantType } from './oauth-error.ts'
import { checkNoRepetition, findParameter, getParameter, type RequestParameters } from './parameters.ts'
import { parseResource } from './resource.ts'

const PATH = '/oauth/token'

interface Asked {
  readonly parameters: RequestParameters
  readonly client: Client
  readonly origins: Origins
}

/** The grants (specification, part 4), by the `grant_type` that names them. */
const GRANTS: Readonly<Record<string, (ctx: Context, asked: Asked) => Promise<Tokens | TokenRefusal>>> = {
  authorization_code: exchange,
  refresh_token: refresh,
}

const REFUSALS = { invalid_grant: InvalidGrant, invalid_scope: InvalidScope, invalid_target: InvalidTarget } as const

/** The token endpoint (RFC 6749, section 3.2). Its parameters stand in the body alone. */
export function addToken(scope: HttpServer, ctx: Context, origins: Origins): void {
  scope.post(PATH, { schema: { hide: true } }, async (request, reply) => {
    const parameters = readForm(request.body)
    const client = await takeClient(ctx, request, { parameters, bucket: 'token' })
    checkNoRepetition(parameters)
    if (client === null) throw InvalidRequest.missing('client_id')
    const outcome = await getGrant(parameters)(ctx, { parameters, client, origins })
    if (outcome.kind === 'refused') throw new REFUSALS[outcome.error](outcome.description)
    return reply.send(formatTokens(outcome))
  })
  refuseOtherMethods(scope, PATH, { allowed: ['POST'], besides: ['OPTIONS'] })
}

function getGrant(parameters: RequestParameters) {
  const parameter = 'grant_type'
  const grant = new Map(Object.entries(GRANTS)).get(getParameter(parameters, parameter))
  if (grant !== undefined) return grant
  throw new UnsupportedGrantType(`The grants here are ${Object.keys(GRANTS).join(' and ')}.`, { parameter })
}

/** RFC 6749, section 4.1.3. A `scope` here means nothing: what was granted was granted. */
function exchange(ctx: Context, { parameters, client, origins }: Asked): Promise<Tokens | TokenRefusal> {
  return exchangeCode(ctx, {
    code: getParameter(parameters, 'code'),
    redirectUri: getParameter(parameters, 'redirect_uri'),
    codeVerifier: getParameter(parameters, 'code_verifier'),
    clientId: client.id,
    resource: parseResource(parameters, origins),
  })
}

/** Refreshes tokens: a `scope` here can only narrow what was granted (RFC 6749, section 6). */
function refresh(ctx: Context, { parameters, client, origins }: Asked): Promise<Tokens | TokenRefusal> {
  return refreshTokens(ctx, {
    refreshToken: getParameter(parameters, 'refresh_token'),
    scopes: parseNarrowedScopes(parameters),
    clientId: client.id,
    resource: parseResource(parameters, origins),
  })
}

/** Null when there is no `scope`. A scope that nobody could have been granted is refused, not dropped (RFC 6749, section 6). */
function parseNarrowedScopes(parameters: RequestParameters): readonly Scope[] | null {
  const text = findParameter(parameters, 'scope')
  if (text === null) return null
  const scopes = parseScopes(text)
  // None, which nobody was granted, so that a second use of the token is seen all the same.
  return scopes !== null && scopes.length === new Set(text.split(' ')).size ? scopes : []
}

/** RFC 6749, section 5.1. `scope` is told always, since it may be less than was asked for. */
function formatTokens({ accessToken, refreshToken, scopes, expiresInSeconds }: Tokens) {
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
    refresh_token: refreshToken,
    scope: formatScopes(scopes),
  }
}
