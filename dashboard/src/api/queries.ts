import type { Input } from '@bursar/server/src/console/contract/all-routes.ts'
import type { AuditFilter } from '@bursar/server/src/console/contract/audit.ts'
import type { Delivery, DeliveryQuery } from '@bursar/server/src/console/contract/deliveries.ts'
import type { EventEnvelope } from '@bursar/server/src/console/contract/events.ts'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import type { WalletFunds } from '@bursar/server/src/console/contract/overview.ts'
import type { PaymentDetail, PaymentFilter, PaymentSort } from '@bursar/server/src/console/contract/payments.ts'
import type { RefusalFilter } from '@bursar/server/src/console/contract/refusals.ts'
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { fingerprintOf } from './fingerprint-of.ts'
import { keyOf } from './query-key.ts'
import { pagedQuery, query, type PageStart } from './query.ts'
import { readerZone } from './reader-zone.ts'
import { request } from './request.ts'
import type { StopScope } from './stops.ts'

/** Everything that the pages of a workspace and of the account read. */

/** For data that changes as time passes: grants expire, 24-hour windows move on, and charts get another hour. */
const TIMED_REFRESH_MS = 60_000
/**
 * For lists that the stream of changes does not announce: members, invitations, and the errors for which a person who
 * connects an application right now waits.
 */
const UNANNOUNCED_REFRESH_MS = 15_000
/** For a payment whose status or first delivery may still change. The stream does not announce deliveries. */
const PAYMENT_REFRESH_MS = 4_000
/** For a pending delivery, because the stream does not announce attempts. */
const DELIVERY_REFRESH_MS = 2_000
/** For a list of deliveries while one of them is pending. */
const DELIVERIES_REFRESH_MS = 5_000
/** For the sums of a list that is short enough to sum it all. */
const SUMS_REFRESH_MS = 5_000
/** While the balance of a wallet has not been read yet. The first reading follows within seconds of its creation. */
const UNREAD_REFRESH_MS = 5_000
const WORKSPACE_STALE_AFTER_MS = 5 * 60_000
/** Each reading is a request to the enclave, and the terms of a grant never change. */
const SIGNED_TERMS_STALE_AFTER_MS = 5 * 60_000

function whole<Answer>(answer: Answer): Answer {
  return answer
}

export const sessionsQuery = query('GET /console/sessions', {}, { pick: ({ sessions }) => sessions })
export const passkeysQuery = query('GET /console/passkeys', {}, { pick: ({ passkeys }) => passkeys })
/** The wallet passkeys of the signed-in user, in all workspaces. */
export const walletPasskeysQuery = query('GET /console/wallet-passkeys', {}, { pick: ({ passkeys }) => passkeys })

/**
 * An application's request to be connected. It can be decided only once, so it is not cached after the user leaves the
 * page.
 */
export function authorizationRequestQuery(handle: string) {
  const name = 'GET /console/authorization-requests/:handle'
  return { ...query(name, { params: { handle } }, { pick: (answer) => answer.request }), staleTime: 0, gcTime: 0 }
}

/** This is a POST request, so that the link's secret is in no URL that a proxy could log. */
export function offeredInvitationQuery(token: string) {
  return queryOptions({
    queryKey: ['invitation', token],
    queryFn: async ({ signal }) =>
      (await request('POST /console/invitations/look-up', { body: { token }, signal })).invitation,
  })
}

/** A workspace with its plan, the address of its API, and its chains. These rarely change. */
export function workspaceQuery(slug: string) {
  return {
    ...query('GET /console/workspaces/:slug', { params: { slug } }, { pick: ({ workspace }) => workspace }),
    staleTime: WORKSPACE_STALE_AFTER_MS,
  }
}

export function planQuery(slug: string) {
  return query('GET /console/workspaces/:slug/plan', { params: { slug } }, { pick: ({ use }) => use })
}

export function membersQuery(slug: string) {
  return {
    ...query('GET /console/workspaces/:slug/members', { params: { slug } }, { pick: ({ members }) => members }),
    refetchInterval: UNANNOUNCED_REFRESH_MS,
  }
}

/** The API keys and connections that end when the member leaves or becomes a viewer. */
export function belongingsQuery(slug: string, userId: string) {
  const name = 'GET /console/workspaces/:slug/members/:user_id/belongings'
  // The dialog must not offer to keep a key that was revoked since it was opened before.
  return { ...query(name, { params: { slug, user_id: userId } }, { pick: whole }), gcTime: 0 }
}

export function invitationsQuery(slug: string) {
  return {
    ...query(
      'GET /console/workspaces/:slug/invitations',
      { params: { slug } },
      { pick: (answer) => answer.invitations },
    ),
    refetchInterval: UNANNOUNCED_REFRESH_MS,
  }
}

/** The entries of the audit log that match a filter, newest first. */
export function auditQuery(slug: string, filter: AuditFilter = {}) {
  const inputOf = (start: PageStart) => ({ params: { slug }, query: { ...filter, ...start } })
  return { ...pagedQuery('GET /console/workspaces/:slug/audit', inputOf), placeholderData: keepPreviousData }
}

/** The keys of both modes that wait for an owner to confirm them after a restore of the service. */
export function heldKeysQuery(slug: string) {
  return query('GET /console/workspaces/:slug/held-keys', { params: { slug } }, { pick: ({ keys }) => keys })
}

/** The labeled addresses of a workspace in one mode, sorted by label. */
export function recipientsQuery(slug: string, mode: Mode) {
  const input = { params: { slug }, query: { mode } }
  return query('GET /console/workspaces/:slug/recipients', input, { pick: ({ recipients }) => recipients })
}

export function agentsQuery(slug: string, mode: Mode) {
  const input = { params: { slug }, query: { mode } }
  return {
    ...query('GET /console/workspaces/:slug/agents', input, { pick: ({ agents }) => agents, live: mode }),
    refetchInterval: TIMED_REFRESH_MS,
  }
}

export function agentQuery(slug: string, mode: Mode, id: string) {
  const input = { params: { slug, id }, query: { mode } }
  return {
    ...query('GET /console/workspaces/:slug/agents/:id', input, { pick: ({ agent }) => agent, live: mode }),
    refetchInterval: TIMED_REFRESH_MS,
  }
}

interface GrantFilter {
  readonly agent?: string
  readonly wallet?: string
}

/** At most 200 grants. Revoked grants come last; within both groups, newer grants come first. */
export function grantsQuery(slug: string, mode: Mode, filter: GrantFilter = {}) {
  const input = { params: { slug }, query: { mode, ...filter } }
  return {
    ...query('GET /console/workspaces/:slug/grants', input, { pick: ({ grants }) => grants, live: mode }),
    refetchInterval: TIMED_REFRESH_MS,
  }
}

export function grantQuery(slug: string, mode: Mode, id: string) {
  const input = { params: { slug, id } }
  return {
    ...query('GET /console/workspaces/:slug/grants/:id', input, { pick: ({ grant }) => grant, live: mode }),
    refetchInterval: TIMED_REFRESH_MS,
  }
}

/** What the enclave's record says about the terms of an active grant. */
export function signedTermsQuery(slug: string, id: string) {
  const input = { params: { slug, id } }
  return {
    ...query('GET /console/workspaces/:slug/grants/:id/signed-terms', input, {
      pick: (answer) => answer.signed_terms,
    }),
    staleTime: SIGNED_TERMS_STALE_AFTER_MS,
  }
}

/** The stops in force, the newest first. */
export function stopsQuery(slug: string, mode: Mode) {
  const input = { params: { slug }, query: { mode } }
  return query('GET /console/workspaces/:slug/stops', input, { pick: ({ stops }) => stops, live: mode })
}

/** What a stop would stop now. The dialog must not show earlier numbers. */
export function stopPreviewQuery(slug: string, mode: Mode, scope: StopScope) {
  const input = { params: { slug }, query: { mode, ...scope } }
  return { ...query('GET /console/workspaces/:slug/stops/preview', input, { pick: whole, live: mode }), gcTime: 0 }
}

export function walletsQuery(slug: string, mode: Mode) {
  const input = { params: { slug }, query: { mode } }
  return query('GET /console/workspaces/:slug/wallets', input, { pick: ({ wallets }) => wallets, live: mode })
}

export function walletQuery(slug: string, mode: Mode, address: string) {
  const input = { params: { slug, address }, query: { mode } }
  return query('GET /console/workspaces/:slug/wallets/:address', input, { pick: ({ wallet }) => wallet, live: mode })
}

/** The public keys of a wallet's owners, with their fingerprints. */
export function ownerKeysQuery(slug: string, mode: Mode, address: string) {
  const name = 'GET /console/workspaces/:slug/wallets/:address/record'
  const input = { params: { slug, address }, query: { mode } }
  return queryOptions({
    queryKey: keyOf(name, input, mode),
    queryFn: async ({ signal }) => {
      const { public_keys: keys } = await request(name, { ...input, signal })
      return await Promise.all(
        keys.map(async ({ credential_id: credentialId, public_key: publicKey, name: keyName }) => ({
          ...{ credentialId, publicKey, name: keyName },
          fingerprint: await fingerprintOf(publicKey),
        })),
      )
    },
  })
}

/** The deposits to a wallet, the newest first. */
export function depositsQuery(slug: string, mode: Mode, wallet: string) {
  const inputOf = (start: PageStart) => ({ params: { slug }, query: { mode, wallet, ...start } })
  return pagedQuery('GET /console/workspaces/:slug/deposits', inputOf, mode)
}

/** The payments that match a filter, by default newest first, 50 per page. */
export function paymentsQuery(slug: string, mode: Mode, filter: PaymentFilter & { readonly sort?: PaymentSort } = {}) {
  const inputOf = (start: PageStart) => ({ params: { slug }, query: { mode, ...filter, ...start } })
  return {
    ...pagedQuery('GET /console/workspaces/:slug/payments', inputOf, mode),
    placeholderData: keepPreviousData,
  }
}

/** The counts and sums of the payments that match a filter. For a long list, they are slow to compute. */
export function sumsQuery(slug: string, mode: Mode, filter: PaymentFilter) {
  const input = { params: { slug }, query: { mode, ...filter } }
  return queryOptions({
    ...query('GET /console/workspaces/:slug/payments/sums', input, { pick: ({ sums }) => sums }),
    refetchInterval: ({ state }) => (state.data?.since === null ? SUMS_REFRESH_MS : TIMED_REFRESH_MS),
    placeholderData: keepPreviousData,
  })
}

/** The views of the payments that the workspace has saved. */
export function viewsQuery(slug: string, mode: Mode) {
  const input = { params: { slug }, query: { mode } }
  return query('GET /console/workspaces/:slug/views', input, { pick: ({ views }) => views })
}

export function paymentQuery(slug: string, mode: Mode, id: string) {
  const input = { params: { slug, id }, query: { mode } }
  return queryOptions({
    ...query('GET /console/workspaces/:slug/payments/:id', input, { pick: whole, live: mode }),
    refetchInterval: ({ state }) => isUnderWay(state.data) && PAYMENT_REFRESH_MS,
  })
}

function isUnderWay(detail: PaymentDetail | undefined): boolean {
  if (detail === undefined) return false
  const deliveries = detail.events.flatMap((event) => event.deliveries)
  // After a failed attempt, the next attempt follows a minute later at the earliest. That is too long to keep fetching,
  // so a delivery counts here only until its first attempt.
  const isFresh = deliveries.some(({ status, attempt_count }) => status === 'pending' && attempt_count === 0)
  return detail.payment.status === 'pending' || isFresh
}

/** The statements of a month, by default of the last one that is over, and the months that have statements. */
export function statementsQuery(slug: string, mode: Mode, month?: string) {
  const input = { params: { slug }, query: { mode, ...(month === undefined ? {} : { month }) } }
  return {
    ...query('GET /console/workspaces/:slug/statements', input, { pick: whole }),
    refetchInterval: TIMED_REFRESH_MS,
    placeholderData: keepPreviousData,
  }
}

export function statementQuery(slug: string, mode: Mode, address: string, month: string) {
  const input = { params: { slug, address, month }, query: { mode } }
  return query('GET /console/workspaces/:slug/statements/:address/:month', input, {
    pick: ({ statement }) => statement,
  })
}

/** The movements of a statement, the oldest first, 500 per page. */
export function movementsQuery(slug: string, mode: Mode, address: string, month: string) {
  const name = 'GET /console/workspaces/:slug/statements/:address/:month/movements'
  const inputOf = (after: string | null) => ({
    params: { slug, address, month },
    query: { mode, ...(after === null ? {} : { after }) },
  })
  return infiniteQueryOptions({
    queryKey: keyOf(name, inputOf(null)),
    queryFn: ({ signal, pageParam }) => request(name, { ...inputOf(pageParam), signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  })
}

/** Payment requests that failed a check. The server keeps them for 30 days. */
export function refusalsQuery(slug: string, mode: Mode, filter: RefusalFilter = {}) {
  const inputOf = (start: PageStart) => ({ params: { slug }, query: { mode, ...filter, ...start } })
  return {
    ...pagedQuery('GET /console/workspaces/:slug/refusals', inputOf, mode),
    placeholderData: keepPreviousData,
  }
}

export function refusalQuery(slug: string, mode: Mode, id: string) {
  const input = { params: { slug, id }, query: { mode } }
  return query('GET /console/workspaces/:slug/refusals/:id', input, { pick: ({ refusal }) => refusal, live: mode })
}

export function overviewQuery(slug: string, mode: Mode) {
  const input = { params: { slug }, query: { mode } }
  return queryOptions({
    ...query('GET /console/workspaces/:slug/overview', input, { pick: ({ overview }) => overview, live: mode }),
    refetchInterval: ({ state }) => fundsRefreshMs(state.data?.wallets),
  })
}

function fundsRefreshMs(wallets: readonly WalletFunds[] = []): number {
  return wallets.some(({ balance_usdc }) => balance_usdc === null) ? UNREAD_REFRESH_MS : TIMED_REFRESH_MS
}

export type SpendingChoice = Omit<Input<'GET /console/workspaces/:slug/overview/spending'>['query'], 'mode' | 'zone'>

/** What was spent in a calendar period of the reader's time zone, and in the period before. */
export function spendingQuery(slug: string, mode: Mode, choice: SpendingChoice) {
  const input = { params: { slug }, query: { mode, zone: readerZone(), ...choice } }
  return queryOptions({
    ...query('GET /console/workspaces/:slug/overview/spending', input, {
      pick: ({ spending }) => spending,
      live: mode,
    }),
    refetchInterval: TIMED_REFRESH_MS,
    placeholderData: keepPreviousData,
  })
}

/** What each wallet holds, and how much of it agents can still spend. */
export function fundsQuery(slug: string, mode: Mode) {
  const input = { params: { slug }, query: { mode } }
  return queryOptions({
    ...query('GET /console/workspaces/:slug/overview/funds', input, { pick: ({ wallets }) => wallets, live: mode }),
    refetchInterval: ({ state }) => fundsRefreshMs(state.data),
  })
}

/** How many grants wait for the user's signature. */
export function waitingQuery(slug: string, mode: Mode) {
  const input = { params: { slug }, query: { mode } }
  return {
    ...query('GET /console/workspaces/:slug/overview/waiting', input, { pick: whole, live: mode }),
    refetchInterval: TIMED_REFRESH_MS,
  }
}

export function keysQuery(slug: string, mode: Mode) {
  const input = { params: { slug }, query: { mode } }
  return query('GET /console/workspaces/:slug/keys', input, { pick: ({ keys }) => keys, live: mode })
}

export function connectionsQuery(slug: string, mode: Mode) {
  const input = { params: { slug }, query: { mode } }
  return query('GET /console/workspaces/:slug/connections', input, {
    pick: ({ connections }) => connections,
    live: mode,
  })
}

/** The last errors of applications that tried to connect or were connected, newest first. */
export function connectionErrorsQuery(slug: string, mode: Mode) {
  const input = { params: { slug }, query: { mode } }
  return {
    ...query('GET /console/workspaces/:slug/connection-errors', input, { pick: ({ errors }) => errors, live: mode }),
    refetchInterval: UNANNOUNCED_REFRESH_MS,
  }
}

export function webhooksQuery(slug: string, mode: Mode) {
  const input = { params: { slug }, query: { mode } }
  return query('GET /console/workspaces/:slug/webhooks', input, { pick: ({ webhooks }) => webhooks, live: mode })
}

export function webhookQuery(slug: string, mode: Mode, id: string) {
  const input = { params: { slug, id } }
  return query('GET /console/workspaces/:slug/webhooks/:id', input, { pick: ({ webhook }) => webhook, live: mode })
}

export interface EventFilter {
  readonly type?: EventEnvelope['type']
}

export function eventsQuery(slug: string, mode: Mode, filter: EventFilter) {
  const inputOf = (start: PageStart) => ({ params: { slug }, query: { mode, ...filter, ...start } })
  return pagedQuery('GET /console/workspaces/:slug/events', inputOf, mode)
}

export function eventQuery(slug: string, mode: Mode, id: string) {
  const input = { params: { slug, id }, query: { mode } }
  return query('GET /console/workspaces/:slug/events/:id', input, { pick: whole, live: mode })
}

export type DeliveryFilter = Readonly<Pick<DeliveryQuery, 'webhook' | 'status' | 'type'>>

export function deliveriesQuery(slug: string, mode: Mode, filter: DeliveryFilter) {
  const inputOf = (start: PageStart) => ({ params: { slug }, query: { mode, ...filter, ...start } })
  return infiniteQueryOptions({
    ...pagedQuery('GET /console/workspaces/:slug/deliveries', inputOf, mode),
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.deliveries.some(isPending)) === true && DELIVERIES_REFRESH_MS,
  })
}

export function deliveryQuery(slug: string, mode: Mode, id: string) {
  return queryOptions({
    ...query('GET /console/workspaces/:slug/deliveries/:id', { params: { slug, id } }, { pick: whole, live: mode }),
    refetchInterval: ({ state }) => state.data !== undefined && isPending(state.data.delivery) && DELIVERY_REFRESH_MS,
  })
}

function isPending({ status }: Delivery): boolean {
  return status === 'pending'
}
