import { fastifyCookie } from '@fastify/cookie'
import type { Context } from '../domain/context.ts'
import { onDashboardOnly, type DashboardPlace } from '../http/hosts.ts'
import type { HttpServer } from '../http/open-http.ts'
import type { Mode } from '../values/mode.ts'
import { Problem } from '../values/problem.ts'
import { createAuthentication, setResponseHeaders } from './authenticate.ts'
import { enforceAccess } from './enforce-access.ts'
import { createCookies } from './cookies.ts'
import type { Faucet } from '../values/chains.ts'
import type { ConsoleContext } from './console-context.ts'
import { Exports } from './exports.ts'
import { addFiles, readDashboardPage } from './files.ts'
import { createSessionReader } from './read-session.ts'
import { addConsoleAgentRoutes } from './routes/agents.ts'
import { addAuditRoute } from './routes/audit.ts'
import { addAuthorizationRequestRoute } from './routes/authorization-requests.ts'
import { addChangesRoute } from './routes/changes.ts'
import { addConnectionErrorRoute } from './routes/connection-errors.ts'
import { addConnectionRoutes } from './routes/connections.ts'
import { addDeliveryRoutes } from './routes/deliveries.ts'
import { addDepositRoute } from './routes/deposits.ts'
import { addConsoleEventRoutes } from './routes/events.ts'
import { addGrantRoutes } from './routes/grants.ts'
import { addInvitationRoutes } from './routes/invitations.ts'
import { addKeyRoutes } from './routes/keys.ts'
import { addMemberRoutes } from './routes/members.ts'
import { addOutageRoute } from './routes/outages.ts'
import { addOverviewRoutes } from './routes/overview.ts'
import { addOwnerRoutes } from './routes/owners.ts'
import { addConsolePaymentRoutes } from './routes/payments.ts'
import { addPasskeyRoutes } from './routes/passkeys.ts'
import { addPlanRoute } from './routes/plan.ts'
import { addRecipientRoutes } from './routes/recipients.ts'
import { addRecoveryRoutes } from './routes/recovery.ts'
import { addRefusalRoutes } from './routes/refusals.ts'
import { addSessionRoutes } from './routes/session.ts'
import { addSessionListRoutes } from './routes/sessions.ts'
import { addSignInRoutes } from './routes/sign-in.ts'
import { addSignUpRoutes } from './routes/sign-up.ts'
import { addStatementRoutes } from './routes/statements.ts'
import { addStopRoutes } from './routes/stops.ts'
import { addVerificationRoutes } from './routes/verification.ts'
import { addViewRoutes } from './routes/views.ts'
import { addWalletPasskeyRoutes } from './routes/wallet-passkeys.ts'
import { addConsoleWalletRoutes } from './routes/wallets.ts'
import { addWebhookRoutes } from './routes/webhooks.ts'
import { addWithdrawalRoutes } from './routes/withdrawals.ts'
import { addWorkspaceRoutes } from './routes/workspaces.ts'

export interface ConsoleOptions extends DashboardPlace {
  readonly baseUrl: string
  readonly production: boolean
  /** The folder of the built dashboard: `index.html` and `assets/`. */
  readonly dashboardDir: string
  readonly chains: Readonly<Record<Mode, { readonly explorerUrl: string | null }>>
  readonly faucet: Faucet | null
  readonly signUp: ConsoleContext['signUp']
}

const ROUTES = [
  addSessionRoutes,
  addSignUpRoutes,
  addSignInRoutes,
  addRecoveryRoutes,
  addVerificationRoutes,
  addPasskeyRoutes,
  addWalletPasskeyRoutes,
  addWorkspaceRoutes,
  addPlanRoute,
  addMemberRoutes,
  addInvitationRoutes,
  addAuditRoute,
  addAuthorizationRequestRoute,
  addConsoleAgentRoutes,
  addGrantRoutes,
  addViewRoutes,
  addStopRoutes,
  addWithdrawalRoutes,
  addConnectionRoutes,
  addConnectionErrorRoute,
  addWebhookRoutes,
  addDeliveryRoutes,
  addConsoleEventRoutes,
  addKeyRoutes,
  addConsoleWalletRoutes,
  addOwnerRoutes,
  addDepositRoute,
  addRecipientRoutes,
  addSessionListRoutes,
  addOverviewRoutes,
  addOutageRoute,
  addConsolePaymentRoutes,
  addRefusalRoutes,
  addStatementRoutes,
  addChangesRoute,
]

/**
 * Serves the dashboard, only on the host of `AUTH_URL` (D1): its pages and files, and the endpoints under `/console`,
 * which the pages call with the session cookie (D47). Throws if the dashboard has not been built.
 */
export async function addConsole(http: HttpServer, ctx: Context, options: ConsoleOptions): Promise<void> {
  const page = await readDashboardPage(options.dashboardDir)
  const { authUrl, baseUrl, chains, faucet, signUp } = options
  const explorerUrls = { test: chains.test.explorerUrl, live: chains.live.explorerUrl }
  const cookies = createCookies(options)
  const exports = new Exports(ctx.pools.exports)
  const consoleContext: ConsoleContext = { ctx, cookies, exports, authUrl, baseUrl, explorerUrls, faucet, signUp }
  const readSession = createSessionReader(ctx, options)

  await http.register(async (pages: HttpServer) => {
    pages.addHook('onRequest', onDashboardOnly(options))
    await addFiles(pages, { ...options, page })
  })
  await http.register(async (scope: HttpServer) => {
    await scope.register(fastifyCookie, { hook: false })
    scope.decorateRequest('session', null)
    scope.decorateRequest('membership', null)
    scope.addHook('onRequest', setResponseHeaders)
    scope.addHook('onRequest', onDashboardOnly(options))
    scope.addHook('onRequest', scope.overloadGate.hook)
    const unknown = { config: { isUnknownPath: true }, onRequest: rejectUnknownPath, schema: { hide: true } } as const
    scope.all('/console/*', unknown, rejectUnknownPath)
    await scope.register(async (endpoints: HttpServer) => {
      endpoints.addHook('onRequest', createAuthentication({ authUrl, readSession }))
      enforceAccess(endpoints, ctx)
      // `/openapi.json` describes only `/v1`. The schemas of these endpoints are in `contract/`.
      endpoints.addHook('onRoute', (route) => {
        route.schema = { ...route.schema, hide: true }
      })
      endpoints.addHook('preClose', async () => exports.close())
      for (const addRoutes of ROUTES) addRoutes(endpoints, consoleContext)
    })
  })
}

/**
 * Rejects a request to an unknown path with 404. Used both as the handler and as an `onRequest` hook, so that the body
 * of such a request is not parsed.
 */
async function rejectUnknownPath(): Promise<never> {
  throw new Problem('not_found', 'There is no endpoint at this path.')
}
