import { all, changed, type Query } from '../../db/query.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Grant } from './grant.ts'
import { GRANT_COLUMNS, GRANT_ROW, toGrant } from './grants-store.ts'

/** What a stop stops: one agent, one wallet, or everything in the mode if both are null. */
export interface StopScope {
  readonly agentId: string | null
  readonly walletAddress: Address | null
}

interface ScopeText {
  /** The end of the statement's name: each text has a name of its own. */
  readonly suffix: string
  readonly condition: string
  readonly values: readonly string[]
}

/**
 * Returns the SQL condition for the grants `g` of a scope, whose value is the parameter `position`. A statement for each
 * kind of scope lets PostgreSQL use the right index.
 */
export function describeScope({ agentId, walletAddress }: StopScope, position: number): ScopeText {
  if (agentId !== null) return { suffix: 'agent', condition: `and g.agent_id = $${position}`, values: [agentId] }
  if (walletAddress === null) return { suffix: 'mode', condition: '', values: [] }
  return { suffix: 'wallet', condition: `and g.wallet_address = $${position}`, values: [walletAddress] }
}

/** The SQL condition for a grant `g` that allows payments at the time `$3`. */
export const ALLOWS_PAYMENTS = `g.status = 'active' and g.suspended_at is null
          and (g.expires_at is null or g.expires_at > $3)`

/**
 * Suspends the first `limit` grants of a scope that allow payments, in the order of their ids, so that two stops never
 * wait for each other. Uses the indexes `grants_one_active_per_agent_and_wallet`, `grants_by_wallet` and the primary
 * key.
 */
export function suspendGrantsOf(
  { workspaceId, mode, ...scope }: StopScope & { readonly workspaceId: string; readonly mode: Mode },
  { stopId, now, limit }: { stopId: string; now: Date; limit: number },
): Query<Grant[]> {
  const { suffix, condition, values } = describeScope(scope, 6)
  return {
    name: `suspend_grants_of_${suffix}`,
    text: `update grants set suspended_at = $3, stop_id = $4
      where workspace_id = $1 and id in (
        select g.id from grants g where g.workspace_id = $1 and g.mode = $2 and ${ALLOWS_PAYMENTS} ${condition}
        order by g.id limit $5 for no key update)
      returning ${GRANT_COLUMNS}`,
    values: [workspaceId, mode, now, stopId, limit, ...values],
    read: all(GRANT_ROW, toGrant),
  }
}

/**
 * Lists grants that a stop has suspended, that have not expired, and whose wallet this passkey owns, in the order of
 * their ids. Uses `grants_stopped` and primary keys.
 */
export function listStoppedGrants(
  { workspaceId, mode, id }: { readonly workspaceId: string; readonly mode: Mode; readonly id: string },
  { credentialId, now, limit }: { credentialId: string; now: Date; limit: number },
): Query<Grant[]> {
  return {
    name: 'list_stopped_grants',
    text: `select ${GRANT_COLUMNS} from grants g
      where g.workspace_id = $1 and g.mode = $2 and g.stop_id = $3 and g.status = 'active' and g.suspended_at is not null
        and (g.expires_at is null or g.expires_at > $5)
        and exists (select 1 from wallet_owners o where o.workspace_id = g.workspace_id and o.mode = g.mode
          and o.wallet_address = g.wallet_address and o.credential_id = $4)
      order by g.id limit $6`,
    values: [workspaceId, mode, id, credentialId, now, limit],
    read: all(GRANT_ROW, toGrant),
  }
}

/** Locks grants in the order of their ids, so that two changes of many grants never wait for each other. */
export function lockGrantsInOrder(workspaceId: string, ids: readonly string[]): Query<boolean> {
  return {
    name: 'lock_grants_in_order',
    text: `select 1 from grants where workspace_id = $1 and id = any ($2) order by id for no key update`,
    values: [workspaceId, ids],
    read: changed,
  }
}

/**
 * Ends the suspension of these grants, each only if it is still the suspension that began at `suspendedAt`. Returns the
 * grants that were changed. Uses the primary key.
 */
export function markResumed(workspaceId: string, grants: readonly Grant[]): Query<Grant[]> {
  return {
    name: 'mark_grants_resumed',
    text: `update grants set suspended_at = null, stop_id = null
      from unnest($2::text[], $3::timestamptz[]) as r (grant_id, since)
      where workspace_id = $1 and id = r.grant_id and status = 'active' and suspended_at = r.since
      returning ${GRANT_COLUMNS}`,
    values: [workspaceId, grants.map(({ id }) => id), grants.map(({ suspendedAt }) => suspendedAt)],
    read: all(GRANT_ROW, toGrant),
  }
}
