import swagger from '@fastify/swagger'
import type { Origins } from '../../http/hosts.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { SCOPE_DESCRIPTIONS } from '../../values/scope.ts'
import { requirementsOf, type Requirements } from '../authenticate.ts'
import { describeError, describeExample, describeResponses, listErrors, schemaNameOf } from './errors.ts'
import { describeEvents, describeWebhookHeaders, describeWebhooks } from './events.ts'
import { HEADERS, headersOf, type HeaderName } from './headers.ts'
import type { ErrorName } from './operation.ts'

/** The contract of `/v1`: an OpenAPI 3.1 document. */
export type Contract = Readonly<Record<string, unknown>>

/** What a route declares or requires, but the framework does not add to the contract. */
interface Operation {
  readonly requirements: Requirements
  readonly errors: readonly ErrorName[]
  readonly replyHeaders: readonly HeaderName[]
}

/** An operation in the document, as the framework describes it. */
interface DescribedOperation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, object>>
  readonly [member: string]: unknown
}

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>>; readonly [kind: string]: unknown }
  readonly [member: string]: unknown
}

const TAGS = [
  { name: 'Agents', description: 'Agents are the software identities that pay.' },
  { name: 'Payments', description: 'A payment is one USDC transfer from a wallet, within the limits of a grant.' },
  { name: 'Purchases', description: 'A purchase is a payment for an HTTP resource that asks for one (x402, MPP).' },
  { name: 'Wallets', description: 'Wallets hold the USDC that agents spend.' },
  { name: 'Ledger', description: 'The ledger lists payments, deposits and withdrawals.' },
  { name: 'Events', description: 'Events report changes. Webhooks deliver them, and these requests read them later.' },
  { name: 'Identity', description: 'Who the caller is.' },
  { name: 'Webhooks', description: 'The requests that the service sends to your webhook endpoints.' },
]

const INTRODUCTION =
  'Lets software agents pay in USDC within limits that their owners have signed. Amounts are decimal strings. Times are ' +
  'ISO 8601 in UTC. Every error has the body `{ "error": { "type", "message", "code", "details" } }`; `code` and ' +
  '`details` are missing in some errors, and each response lists the errors that are possible. Fields, errors and ' +
  'endpoints can be added to `/v1`, so ignore members that you do not know.'

/**
 * Registers the generator of the contract. The contract describes the routes that are added to `http` afterwards.
 * Returns a function that creates the document; call it when the server is ready.
 */
export async function describeRoutes(http: HttpServer, origins: Origins): Promise<() => Contract> {
  const operations = new Map<string, Operation>()
  await http.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Bursar',
        version: 'v1',
        description: INTRODUCTION,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags: TAGS,
      components: {
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description: '`svc_test_…` or `svc_live_…`. The prefix decides the mode.',
          },
          accessToken: {
            type: 'oauth2',
            description:
              'An OAuth access token (`svc_oat_…`) of a connection to which a person has consented. Every access token can ' +
              'read, whatever its scopes. It can pay only as the agent of its connection.',
            flows: {
              authorizationCode: {
                authorizationUrl: `${origins.authUrl}/oauth/authorize`,
                tokenUrl: `${origins.authUrl}/oauth/token`,
                refreshUrl: `${origins.authUrl}/oauth/token`,
                scopes: SCOPE_DESCRIPTIONS,
              },
            },
          },
        },
      },
    },
    refResolver: { buildLocalReference: ({ $id }) => (typeof $id === 'string' ? $id : 'unnamed') },
    transform({ schema, url, route }) {
      const { operationId, errors = [], replyHeaders = [] } = schema ?? {}
      const [requirements] = [route.onRequest ?? []].flat().flatMap((hook) => requirementsOf(hook) ?? [])
      if (operationId !== undefined && requirements !== undefined) {
        operations.set(operationId, { requirements, errors, replyHeaders })
      }
      return { schema, url }
    },
  })
  return () => complete(http.swagger() as unknown as Described, operations, origins)
}

/** Adds what the framework does not describe: errors, headers, security, events and servers. */
function complete(described: Described, operations: ReadonlyMap<string, Operation>, origins: Origins): Contract {
  const used = new Set<ErrorName>()
  const paths = Object.entries(described.paths).map(([path, item]) => {
    const methods = Object.entries(item).map(([method, operation]) => {
      const declared = operations.get(operation.operationId)
      if (declared === undefined) throw new Error(`${method} ${path} has no operationId or no authentication`)
      const errors = listErrors({
        ...declared,
        hasBody: 'requestBody' in operation,
        hasPathParameters: path.includes('{'),
      })
      for (const name of errors) used.add(name)
      return [method, describeOperation(operation, declared, errors)]
    })
    return [path, Object.fromEntries(methods)]
  })
  const names = [...used].toSorted()
  const errors = Object.fromEntries(names.map((name) => [schemaNameOf(name), describeError(name)]))
  const routeSchemas = Object.entries(described.components.schemas).filter(([name]) => !(name in errors))
  return {
    ...described,
    servers: [{ url: origins.baseUrl, description: 'This service.' }],
    paths: Object.fromEntries(paths),
    webhooks: describeWebhooks(),
    components: {
      ...described.components,
      headers: HEADERS,
      parameters: describeWebhookHeaders(),
      examples: Object.fromEntries(names.map((name) => [name, describeExample(name)])),
      schemas: {
        ...Object.fromEntries(routeSchemas),
        ...describeEvents(),
        ...errors,
      },
    },
  }
}

function describeOperation(
  operation: DescribedOperation,
  { requirements, replyHeaders }: Operation,
  errors: readonly ErrorName[],
): object {
  const successes = Object.entries(operation.responses).map(([status, response]) => {
    const names = headersOf(Number(status), replyHeaders)
    const headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
    return [status, { ...response, headers }]
  })
  const { scope, unrestrictedKeyOnly = false } = requirements
  const token = { accessToken: scope === undefined ? [] : [scope] }
  return {
    ...operation,
    security: unrestrictedKeyOnly ? [{ apiKey: [] }] : [{ apiKey: [] }, token],
    responses: { ...Object.fromEntries(successes), ...describeResponses(errors) },
  }
}
