import { redirectHostsOf, type Client } from '../domain/connections/client.ts'
import { registerClient } from '../domain/connections/register-client.ts'
import type { Context } from '../domain/context.ts'
import { enforceRateLimit } from '../domain/enforce-rate-limit.ts'
import type { Origins } from '../http/hosts.ts'
import type { HttpServer } from '../http/open-http.ts'
import { clientAddress } from '../http/client-address.ts'
import { formatScopes } from '../values/scope.ts'
import { parseClientMetadata } from './client-metadata.ts'
import { toClientName } from './client-name.ts'
import { rejectOtherMethods } from './reject-other-methods.ts'

const PATH = '/oauth/register'

/**
 * Adds the registration endpoint (RFC 7591): anyone can register a public client. Unsupported values in the metadata
 * are replaced by supported ones, and the response shows the registered values (section 3.2.1). No URL in the metadata
 * is ever fetched.
 */
export function addRegister(scope: HttpServer, ctx: Context, origins: Origins): void {
  scope.post(PATH, { schema: { hide: true } }, async (request, reply) => {
    await enforceRateLimit(ctx, { subject: clientAddress(request), bucket: 'register' })
    const { name, redirectUris, scopes } = parseClientMetadata(request.body, [origins.baseUrl, origins.authUrl])
    const client = await registerClient(ctx, {
      name: name ?? toClientName(redirectHostsOf({ redirectUris }).join(', ')),
      redirectUris,
      scopes,
    })
    return reply.code(201).send(formatClient(client))
  })
  rejectOtherMethods(scope, PATH, { allowed: ['POST'], besides: ['OPTIONS'] })
}

/** Returns the response. It contains all registered values, and no member without a value (D37). */
function formatClient({ id, createdAt, name, redirectUris, scopes }: Client) {
  return {
    client_id: id,
    client_id_issued_at: Math.floor(createdAt.getTime() / 1_000),
    client_name: name,
    redirect_uris: redirectUris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    scope: formatScopes(scopes),
    token_endpoint_auth_method: 'none',
  }
}
