import { revokeToken } from '../domain/connections/revoke-token.ts'
import type { Context } from '../domain/context.ts'
import type { HttpServer } from '../http/open-http.ts'
import { takeClient } from './take-client.ts'
import { readForm } from './form.ts'
import { refuseOtherMethods } from './refuse-other-methods.ts'
import { checkNoRepetition, getParameter } from './parameters.ts'

const PATH = '/oauth/revoke'

/**
 * The revocation endpoint (RFC 7009): either token ends the whole connection. The answer is the same for a token that
 * nobody knows or that another client has, of which nothing happens. `token_type_hint` is not needed to find one.
 */
export function addRevoke(scope: HttpServer, ctx: Context): void {
  scope.post(PATH, { schema: { hide: true } }, async (request, reply) => {
    const parameters = readForm(request.body)
    const client = await takeClient(ctx, request, { parameters, bucket: 'revoke' })
    checkNoRepetition(parameters)
    await revokeToken(ctx, { token: getParameter(parameters, 'token'), clientId: client?.id ?? null })
    // The response is the same whether the token is known or not (D36).
    return reply.send({})
  })
  refuseOtherMethods(scope, PATH, { allowed: ['POST'], besides: ['OPTIONS'] })
}
