import { revokeToken } from '../domain/connections/revoke-token.ts'
import type { Context } from '../domain/context.ts'
import type { HttpServer } from '../http/open-http.ts'
import { identifyClient } from './identify-client.ts'
import { readForm } from './form.ts'
import { rejectOtherMethods } from './reject-other-methods.ts'
import { checkNoRepetition, getParameter } from './parameters.ts'

const PATH = '/oauth/revoke'

/**
 * Adds the revocation endpoint (RFC 7009). Revoking an access token or a refresh token ends the whole connection. If
 * the token is unknown or belongs to another client, nothing is revoked, and the response is the same.
 * `token_type_hint` is ignored: tokens are found without it.
 */
export function addRevoke(scope: HttpServer, ctx: Context): void {
  scope.post(PATH, { schema: { hide: true } }, async (request, reply) => {
    const parameters = readForm(request.body)
    const client = await identifyClient(ctx, request, { parameters, bucket: 'revoke' })
    checkNoRepetition(parameters)
    await revokeToken(ctx, { token: getParameter(parameters, 'token'), clientId: client?.id ?? null })
    // The response is the same whether the token is known or not (D36).
    return reply.send({})
  })
  rejectOtherMethods(scope, PATH, { allowed: ['POST'], besides: ['OPTIONS'] })
}
