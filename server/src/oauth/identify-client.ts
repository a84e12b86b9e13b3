import type { FastifyRequest } from 'fastify'
import type { Client } from '../domain/connections/client.ts'
import { findClientWithinLimit } from '../domain/connections/find-client-within-limit.ts'
import type { Context } from '../domain/context.ts'
import { clientAddress } from '../http/client-address.ts'
import { InvalidClient } from './oauth-error.ts'
import { findParameter, listParameter, type RequestParameters } from './parameters.ts'

const BASIC_PATTERN = /^basic(?: |$)/i

/**
 * Returns the client that a request to the token or revocation endpoint names, or null if it names none. First, the
 * request is counted against a rate limit: per client and address, or per address if the client is unknown (D33).
 *
 * Throws `invalid_client` for an unknown id. Also throws it for HTTP Basic authentication, which public clients do not
 * use; only that response has a challenge (RFC 6749, section 5.2). A `client_secret` is ignored. A `client_assertion`
 * is rejected: a client that signs one relies on the server to check it (RFC 7523, section 2.2).
 */
export async function identifyClient(
  ctx: Context,
  request: FastifyRequest,
  { parameters, bucket }: { parameters: RequestParameters; bucket: 'token' | 'revoke' },
): Promise<Client | null> {
  const [id = null] = listParameter(parameters, 'client_id')
  const client = await findClientWithinLimit(ctx, { id, address: clientAddress(request), bucket })
  if (BASIC_PATTERN.test(request.headers.authorization ?? '')) {
    throw new InvalidClient(
      'This server supports public clients only. Send client_id in the request body, without an Authorization header.',
      {
        headers: { 'WWW-Authenticate': 'Basic realm="oauth"' },
      },
    )
  }
  if (listParameter(parameters, 'client_assertion').length > 0) {
    throw new InvalidClient('This server supports public clients only. Send no client_assertion.', {
      parameter: 'client_assertion',
    })
  }
  if (findParameter(parameters, 'client_id') === null || client !== null) return client
  throw new InvalidClient('No client is registered with this client_id. Register again.', { parameter: 'client_id' })
}
