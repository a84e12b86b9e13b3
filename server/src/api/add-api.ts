import type { Context } from '../domain/context.ts'
import { allowCrossOrigin } from '../http/cross-origin.ts'
import type { Origins } from '../http/hosts.ts'
import type { HttpServer } from '../http/open-http.ts'
import { addGuides } from './guides/add-guides.ts'
import { createAuthenticate } from './authenticate.ts'
import { describeRoutes, type Contract } from './contract/document.ts'
import { addAgentRoutes, type Authenticate } from './routes/agents.ts'
import { addEventRoutes } from './routes/events.ts'
import { addLedgerRoute } from './routes/ledger.ts'
import { addMeRoute } from './routes/me.ts'
import { addTransparencyLog } from './routes/transparency-log.ts'
import { addPaymentRoutes } from './routes/payments.ts'
import { addX402Routes } from './routes/x402.ts'
import { addWalletRoutes } from './routes/wallets.ts'

export interface ApiOptions extends Origins {
  /** The folder of the built documentation, whose pages `/llms.txt` lists. */
  readonly docsDir: string
}

/**
 * Adds the `/v1` routes, and their contract at `/openapi.json`, which is generated from what the routes declare.
 * Returns a function that creates the contract when the server is ready.
 */
export async function addApi(http: HttpServer, ctx: Context, options: ApiOptions): Promise<() => Contract> {
  const origins: Origins = options
  const describeContract = await describeRoutes(http, origins)
  const authenticate: Authenticate = (requirements) => createAuthenticate(ctx, origins, requirements)
  await http.register(async (scope: HttpServer) => {
    scope.decorateRequest('caller', null)
    allowCrossOrigin(scope)
    scope.addHook('onRequest', scope.overloadGate.hook)
    addAgentRoutes(scope, ctx, authenticate)
    addPaymentRoutes(scope, ctx, authenticate)
    addX402Routes(scope, ctx, { authenticate, origins })
    addLedgerRoute(scope, ctx, authenticate)
    addWalletRoutes(scope, ctx, authenticate)
    addMeRoute(scope, ctx, authenticate)
    addEventRoutes(scope, ctx, authenticate)
    addTransparencyLog(scope, ctx, origins)
  })
  await addGuides(http, options)
  // The contract is created at the first request, and never changes while the process runs.
  let contract: string | null = null
  http.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    contract ??= JSON.stringify(describeContract())
    return reply.type('application/json; charset=utf-8').serializer(String).send(contract)
  })
  return describeContract
}
