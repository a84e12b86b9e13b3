import { AGENT_ROUTES } from './agents.ts'
import { AUDIT_ROUTES } from './audit.ts'
import { CONNECTION_ERROR_ROUTES } from './connection-errors.ts'
import { CONNECTION_ROUTES } from './connections.ts'
import { DELIVERY_ROUTES } from './deliveries.ts'
import { EVENT_ROUTES } from './events.ts'
import { GRANT_ROUTES } from './grants.ts'
import { INVITATION_ROUTES } from './invitations.ts'
import { KEY_ROUTES } from './keys.ts'
import { MEMBER_ROUTES } from './members.ts'
import { OUTAGE_ROUTES } from './outages.ts'
import { OWNER_ROUTES } from './owners.ts'
import { OVERVIEW_ROUTES } from './overview.ts'
import { PASSKEY_ROUTES } from './passkeys.ts'
import { PAYMENT_ROUTES } from './payments.ts'
import { RECIPIENT_ROUTES } from './recipients.ts'
import { REFUSAL_ROUTES } from './refusals.ts'
import type { InputOf, OutputOf } from './route.ts'
import { SESSION_ROUTES } from './session.ts'
import { SESSION_LIST_ROUTES } from './sessions.ts'
import { STATEMENT_ROUTES } from './statements.ts'
import { VIEW_ROUTES } from './views.ts'
import { WALLET_ROUTES } from './wallets.ts'
import { STOP_ROUTES } from './stops.ts'
import { WALLET_PASSKEY_ROUTES } from './wallet-passkeys.ts'
import { WEBHOOK_ROUTES } from './webhooks.ts'
import { WITHDRAWAL_ROUTES } from './withdrawals.ts'
import { WORKSPACE_ROUTES } from './workspaces.ts'

/**
 * Every endpoint of the dashboard. Tests read from this list what each endpoint requires. The dashboard uses its types.
 */
export const CONSOLE_ROUTES = [
  ...Object.values(SESSION_ROUTES),
  ...Object.values(SESSION_LIST_ROUTES),
  ...Object.values(PASSKEY_ROUTES),
  ...Object.values(WALLET_PASSKEY_ROUTES),
  ...Object.values(WORKSPACE_ROUTES),
  ...Object.values(MEMBER_ROUTES),
  ...Object.values(INVITATION_ROUTES),
  ...Object.values(AUDIT_ROUTES),
  ...Object.values(AGENT_ROUTES),
  ...Object.values(WALLET_ROUTES),
  ...Object.values(OWNER_ROUTES),
  ...Object.values(RECIPIENT_ROUTES),
  ...Object.values(GRANT_ROUTES),
  ...Object.values(STOP_ROUTES),
  ...Object.values(WITHDRAWAL_ROUTES),
  ...Object.values(KEY_ROUTES),
  ...Object.values(CONNECTION_ROUTES),
  ...Object.values(CONNECTION_ERROR_ROUTES),
  ...Object.values(WEBHOOK_ROUTES),
  ...Object.values(DELIVERY_ROUTES),
  ...Object.values(EVENT_ROUTES),
  ...Object.values(OVERVIEW_ROUTES),
  ...Object.values(OUTAGE_ROUTES),
  ...Object.values(PAYMENT_ROUTES),
  ...Object.values(REFUSAL_ROUTES),
  ...Object.values(VIEW_ROUTES),
  ...Object.values(STATEMENT_ROUTES),
]

/** The type of one endpoint's declaration: its exact method, path and schemas. */
export type Route = (typeof CONSOLE_ROUTES)[number]
type RouteByName = { readonly [One in Route as `${One['method']} ${One['url']}`]: One }

/** The name of an endpoint: its method and its path, for example `GET /console/workspaces/:slug/agents`. */
export type RouteName = keyof RouteByName
/** The type of what a caller of the endpoint sends. */
export type Input<Name extends RouteName> = InputOf<RouteByName[Name]>
/** The type of what a caller of the endpoint receives. */
export type Output<Name extends RouteName> = OutputOf<RouteByName[Name]>
