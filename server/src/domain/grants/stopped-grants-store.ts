import { pick } from '../../db/column.ts'
import { all, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
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

/**
 * The SQL condition for a grant `g` that allows payments at the time `$3`. A grant that expired less than a minute ago
 * counts too, because another process, whose clock is behind ours, may still allow its payments.
 */
export const ALLOWS_PAYMENTS = `g.status = 'active' and g.suspended_at is null
          and (g.expires_at is null or g.expires_at > $3::timestamptz - interval '1 minute')`

/**
 * Suspends the grants of a scope that allow payments, and returns their ids. The caller holds the workspace's lock, so
 * two stops never wait for each other's grants. Uses the indexes `grants_one_active_per_agent_and_wallet`,
 * `grants_live_by_agent` and `grants_by_wallet`.
 */
export function suspendGrantsOf(
  { workspaceId, mode, ...scope }: StopScope & { readonly workspaceId: string; readonly mode: Mode },
  { stopId, now }: { stopId: string; now: Date },
): Query<string[]> {
  const { suffix, condition, values } = describeScope(scope, 5)
  return {
    name: `suspend_grants_of_${suffix}`,
    text: `update grants g set suspended_at = $3, stop_id = $4
      where g.workspace_id = $1 and g.mode = $2 and ${ALLOWS_PAYMENTS} ${condition} returning g.id`,
    values: [workspaceId, mode, now, stopId, ...values],
    read: all(pick(tables.grants, 'id'), ({ id }) => id),
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

/** Uses the primary key. */
export function findGrants(workspaceId: string, ids: readonly string[]): Query<Grant[]> {
  return {
    name: 'find_grants',
    text: `select ${GRANT_COLUMNS} from grants where workspace_id = $1 and id = any ($2)`,
    values: [workspaceId, ids],
    read: all(GRANT_ROW, toGrant),
  }
}

/** Ends the suspension of these grants. Uses the primary key. */
export function markResumed(workspaceId: string, ids: readonly string[]): Query<Grant[]> {
  return {
    name: 'mark_grants_resumed',
    text: `update grants set suspended_at = null, stop_id = null
      where workspace_id = $1 and id = any ($2) returning ${GRANT_COLUMNS}`,
    values: [workspaceId, ids],
    read: all(GRANT_ROW, toGrant),
  }
}
