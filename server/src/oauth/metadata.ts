import { allowCrossOrigin } from '../http/cross-origin.ts'
import { onAuthHostOnly, originOf, RESOURCE_PATHS, type Origins } from '../http/hosts.ts'
import type { HttpServer } from '../http/open-http.ts'
import { Problem } from '../values/problem.ts'
import { SCOPES } from '../values/scope.ts'
import type { OauthOptions } from './oauth-options.ts'
import { rejectOtherMethods } from './reject-other-methods.ts'

const AS_PATH = '/.well-known/oauth-authorization-server'
const RESOURCE_PATH = '/.well-known/oauth-protected-resource'
const CACHE_CONTROL = 'public, max-age=3600'

/**
 * Adds the metadata documents that clients read first. One describes the authorization server (RFC 8414). The other
 * describes the protected resource (RFC 9728), and is served on both hosts (D40, D40a). All addresses in them come from
 * the configuration. Every other well-known path responds with 404, never with a page of the dashboard.
 */
export function addMetadata(scope: HttpServer, origins: Omit<OauthOptions, 'readSession'>): void {
  // The URL of a resource's metadata ends with the path of the resource (RFC 9728, section 3.1). It also exists with a
  // slash at the end, because people write the address of the MCP server with one.
  const suffixes = RESOURCE_PATHS.flatMap((path) => [path, `${path}/`])
  const paths = [AS_PATH, RESOURCE_PATH].flatMap((path) => suffixes.map((suffix) => path + suffix))
  allowCrossOrigin(scope)
  const server = describeServer(origins)

  for (const suffix of suffixes) {
    scope.get(
      AS_PATH + suffix,
      { onRequest: onAuthHostOnly(origins), schema: { hide: true } },
      async (_request, reply) => reply.header('Cache-Control', CACHE_CONTROL).send(server),
    )
    scope.get(RESOURCE_PATH + suffix, { schema: { hide: true } }, async (request, reply) => {
      // The path `/` of a whole host is left out.
      const resource = originOf(request, origins) + (suffix === '/' ? '' : suffix)
      return reply.header('Cache-Control', CACHE_CONTROL).send(describeResource(resource, origins))
    })
  }
  for (const path of paths) rejectOtherMethods(scope, path, { allowed: ['GET', 'HEAD'], besides: ['OPTIONS'] })
  scope.get('/.well-known/*', { config: { rejectsAll: true }, schema: { hide: true } }, async () => {
    throw new Problem('not_found', 'There is no endpoint at this path.')
  })
}

function describeServer({ authUrl: issuer, clientDocuments }: Omit<OauthOptions, 'readSession'>) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    scopes_supported: SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    // Every authorization response names its issuer (RFC 9207, section 2.3).
    authorization_response_iss_parameter_supported: true,
    ...(clientDocuments ? { client_id_metadata_document_supported: true } : {}),
  }
}

function describeResource(resource: string, { authUrl, baseUrl }: Origins) {
  return {
    resource,
    authorization_servers: [authUrl],
    scopes_supported: SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'Bursar',
    resource_documentation: `${baseUrl}/openapi.json`,
  }
}
