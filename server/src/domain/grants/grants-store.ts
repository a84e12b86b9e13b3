import { computed, listOf, narrow, pick, type RowOf } from '../../db/column.ts'
import { all, changed, firstOrNull, one, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { idBoundary } from '../../values/ids.ts'
import { microUsdc } from '../../values/money.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { SlotKey } from '../wallets/sealed-slots-store.ts'
import {
  COMPARISON_INTERVAL_MS,
  type Grant,
  type GrantChange,
  type GrantPolicy,
  type StoredSigningRequest,
} from './grant.ts'

const { agents, grants } = tables

/** A signing request as the column `signing_request` contains it. The version before this one also stored `resume`. */
interface SigningRequestJson extends Pick<StoredSigningRequest, 'before' | 'after'> {
  readonly change: GrantChange | 'resume'
  readonly expires_at: string
  readonly handed_in_by?: Actor | undefined
}

/** The columns that contain the policy of a grant. */
export const POLICY_ROW = {
  ...pick(grants, 'max_per_tx_micro', 'daily_cap_micro', 'expires_at', 'x402'),
  recipient_allowlist: narrow<Address>(grants.recipient_allowlist),
  contract_allowlist: narrow<Address>(grants.contract_allowlist),
}

export const GRANT_ROW = {
  ...pick(grants, 'workspace_id', 'id'),
  mode: narrow<Mode>(grants.mode),
  agent_id: grants.agent_id,
  wallet_address: narrow<Address>(grants.wallet_address),
  ...POLICY_ROW,
  status: grants.status,
  slot: grants.slot,
  signing_request: narrow<SigningRequestJson>(grants.signing_request),
  ...pick(
    grants,
    'created_at',
    'activated_at',
    'suspended_at',
    'revoked_at',
    'replaces',
    'replaced_by',
    'activated_by',
    'created_by',
  ),
}

export const GRANT_COLUMNS = listOf(GRANT_ROW)

export function insertGrant(grant: Grant): Query<boolean> {
  return {
    name: 'insert_grant',
    text: `insert into grants (workspace_id, id, mode, agent_id, wallet_address, max_per_tx_micro, daily_cap_micro,
        recipient_allowlist, contract_allowlist, expires_at, x402, status, slot, created_at, replaces, created_by)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    values: [
      grant.workspaceId,
      grant.id,
      grant.mode,
      grant.agentId,
      grant.walletAddress,
      grant.maxPerTxMicro,
      grant.dailyCapMicro,
      grant.recipientAllowlist,
      grant.contractAllowlist,
      grant.expiresAt,
      grant.x402,
      grant.status,
      grant.slot,
      grant.createdAt,
      grant.replaces,
      grant.createdBy,
    ],
    read: changed,
  }
}

/** Uses the primary key. */
export function findGrant(workspaceId: string, id: string): Query<Grant | null> {
  return {
    name: 'find_grant',
    text: `select ${GRANT_COLUMNS} from grants where workspace_id = $1 and id = $2`,
    values: [workspaceId, id],
    read: firstOrNull(GRANT_ROW, toGrant),
  }
}

/** When the agent of a new grant was created. Null if there is no such agent. */
export function findAgentCreation(workspaceId: string, mode: Mode, agentId: string): Query<Date | null> {
  return {
    name: 'find_agent_creation',
    text: 'select created_at from agents where workspace_id = $1 and mode = $2 and id = $3 and deleted_at is null',
    values: [workspaceId, mode, agentId],
    read: firstOrNull({ created_at: agents.created_at }, (row) => row.created_at),
  }
}

/** Returns how many grants of the agent on the wallet are not revoked. Uses the index `grants_live_by_agent`. */
export function countLiveGrants(workspaceId: string, mode: Mode, wallet: Address, agentId: string): Query<number> {
  return {
    name: 'count_live_grants',
    text: `select count(*) as grants from grants
      where workspace_id = $1 and mode = $2 and agent_id = $4 and wallet_address = $3 and status <> 'revoked'`,
    values: [workspaceId, mode, wallet, agentId],
    read: one({ grants: computed.int8 }, (row) => Number(row.grants)),
  }
}

/**
 * Returns a slot of the wallet that has a signing key and that no grant uses, or null if there is none. Prefers a slot
 * that was never used, and otherwise the slot that was freed longest ago. The reason: if the rules of an ended grant
 * came back at the enclave, the next grant in that slot could use them. The caller holds the workspace's lock. Finds the
 * slots by their primary key, the grants of the wallet by `grants_by_wallet`, and the ended grants by `grants_listed` or
 * `grants_revoked_by_agent`.
 */
export function findFreeSlot(workspaceId: string, mode: Mode, wallet: Address): Query<number | null> {
  return {
    name: 'find_free_slot',
    text: `select s.slot from wallet_slots s
      left join (
        select slot, max(revoked_at) as freed_at from grants
        where workspace_id = $1 and mode = $2 and wallet_address = $3 and status = 'revoked' group by slot
      ) ended on ended.slot = s.slot
      where s.workspace_id = $1 and s.mode = $2 and s.wallet_address = $3 and s.signer_private_key_sealed <> ''
        and not exists (select 1 from grants g where g.workspace_id = s.workspace_id and g.mode = s.mode
          and g.wallet_address = s.wallet_address and g.slot = s.slot and g.status <> 'revoked')
      order by ended.freed_at nulls first, s.slot limit 1`,
    values: [workspaceId, mode, wallet],
    read: firstOrNull(pick(tables.wallet_slots, 'slot'), (row) => row.slot),
  }
}

/**
 * Returns the other grants in a grant's slot that are not revoked: the grant that it is to replace, or the grant that
 * is to replace it. Uses the index `grants_by_wallet`.
 */
export function listOthersInSlot(grant: Grant): Query<Grant[]> {
  return {
    name: 'list_others_in_slot',
    text: `select ${GRANT_COLUMNS} from grants
      where workspace_id = $1 and mode = $2 and wallet_address = $3 and slot = $4 and status <> 'revoked' and id <> $5`,
    values: [grant.workspaceId, grant.mode, grant.walletAddress, grant.slot, grant.id],
    read: all(GRANT_ROW, toGrant),
  }
}

/** Returns the grants in these slots that are not revoked. Uses the index `grants_by_wallet`. */
export function listGrantsInSlots(slots: readonly SlotKey[]): Query<Grant[]> {
  return {
    name: 'list_grants_in_slots',
    text: `select ${GRANT_COLUMNS} from grants
      where status <> 'revoked' and (workspace_id, mode, wallet_address, slot) in (
        select * from unnest($1::text[], $2::text[], $3::text[], $4::int[]))`,
    values: [
      slots.map(({ workspaceId }) => workspaceId),
      slots.map(({ mode }) => mode),
      slots.map(({ walletAddress }) => walletAddress),
      slots.map(({ slot }) => slot),
    ],
    read: all(GRANT_ROW, toGrant),
  }
}

/** Stores what the owner is asked to sign; a later request replaces it. */
export function saveSigningRequest(grant: Grant, request: StoredSigningRequest): Query<boolean> {
  return {
    name: 'save_signing_request',
    text: `update grants set signing_request = $3 where workspace_id = $1 and id = $2 and status <> 'revoked'`,
    values: [grant.workspaceId, grant.id, toJson(request)],
    read: changed,
  }
}

/** Records who submits the signature, if the request is still the one that the owner is asked to sign. */
export function markSubmitted(grant: Grant, request: StoredSigningRequest): Query<boolean> {
  return {
    name: 'mark_grant_submitted',
    text: `update grants set signing_request = $3 where workspace_id = $1 and id = $2 and status <> 'revoked'
        and signing_request->>'change' = $4 and signing_request->>'expires_at' = $5`,
    values: [grant.workspaceId, grant.id, toJson(request), request.change, request.expiresAt.toISOString()],
    read: changed,
  }
}

function toJson({ expiresAt, submittedBy, ...rules }: StoredSigningRequest): string {
  const expires_at = expiresAt.toISOString()
  return JSON.stringify({ ...rules, expires_at, handed_in_by: submittedBy ?? undefined } satisfies SigningRequestJson)
}

function fromJson({ expires_at, handed_in_by, change, ...rules }: SigningRequestJson): StoredSigningRequest | null {
  if (change === 'resume') return null
  return { ...rules, change, expiresAt: new Date(expires_at), submittedBy: handed_in_by ?? null }
}

/**
 * pending → active, once. `activatedBy` is a person's id; null means the operator. If the replaced grant was suspended
 * at `signedSince` or later, the new grant is suspended too, by the same stop. So is a new grant that a stop since then
 * concerns: the owner signed it without knowing of the stop. Uses the primary keys.
 */
export function markActive(
  workspaceId: string,
  id: string,
  now: Date,
  { activatedBy = null, signedSince = now }: { activatedBy?: string | null; signedSince?: Date } = {},
): Query<Grant | null> {
  return {
    name: 'mark_grant_active',
    text: `update grants g set status = 'active', activated_at = $3, activated_by = $4, signing_request = null,
        compare_at = $7, (suspended_at, stop_id) = (
          select at, stop from (
            select old.suspended_at as at, old.stop_id as stop from grants old
            where old.workspace_id = g.workspace_id and old.id = g.replaces and old.suspended_at >= $5
            union all
            select s.created_at, s.id from stops s where ${stopsConcern('g')} and s.id >= $6
          ) known order by at limit 1)
      where workspace_id = $1 and id = $2 and status = 'pending' returning ${GRANT_COLUMNS}`,
    values: [
      ...[workspaceId, id, now, activatedBy, signedSince, idBoundary('stop', signedSince)],
      // The caller has read the enclave's record.
      new Date(now.getTime() + COMPARISON_INTERVAL_MS),
    ],
    read: firstOrNull(GRANT_ROW, toGrant),
  }
}

/**
 * Returns the SQL condition that `stops s` is in force and concerns a grant, although it may not have suspended it. Uses
 * the index `grants_stopped`.
 */
function stopsConcern(grant: string): string {
  return `s.workspace_id = ${grant}.workspace_id and s.mode = ${grant}.mode
              and (s.agent_id is null or s.agent_id = ${grant}.agent_id)
              and (s.wallet_address is null or s.wallet_address = ${grant}.wallet_address)
              and exists (select 1 from grants o where o.workspace_id = s.workspace_id and o.mode = s.mode
                and o.stop_id = s.id and o.status = 'active' and o.suspended_at is not null)`
}

/**
 * Returns whether the grant that `grant` is to replace was suspended at this time or later, or a stop that concerns
 * `grant` was made since then. Uses the primary keys.
 */
export function isStoppedSince({ workspaceId, id }: Grant, since: Date): Query<boolean> {
  return {
    name: 'is_grant_stopped_since',
    text: `select exists (select 1 from grants old
          where old.workspace_id = g.workspace_id and old.id = g.replaces and old.suspended_at >= $3)
        or exists (select 1 from stops s where ${stopsConcern('g')} and s.id >= $4) as stopped
      from grants g where g.workspace_id = $1 and g.id = $2`,
    values: [workspaceId, id, since, idBoundary('stop', since)],
    read: one({ stopped: computed.bool }, (row) => row.stopped),
  }
}

/** pending or active → revoked, once. */
export function markGrantRevoked(workspaceId: string, id: string, now: Date): Query<Grant | null> {
  return {
    name: 'mark_grant_revoked',
    text: `update grants set status = 'revoked', revoked_at = $3, signing_request = null
      where workspace_id = $1 and id = $2 and status <> 'revoked' returning ${GRANT_COLUMNS}`,
    values: [workspaceId, id, now],
    read: firstOrNull(GRANT_ROW, toGrant),
  }
}

/**
 * active → revoked, for the other grant in the slot of `grant`, unless the enclave still enforces the other grant.
 * `enforced` are the ids of the grants that the slot's rules name. `replacedBy` is the grant that took the place of the
 * revoked grant. Uses the index `grants_one_active_per_slot`.
 */
export function endUnenforced(
  grant: Grant,
  { enforced, replacedBy, now }: { enforced: readonly string[]; replacedBy: string | null; now: Date },
): Query<Grant | null> {
  return {
    name: 'end_unenforced_grant',
    text: `update grants set status = 'revoked', revoked_at = $7, replaced_by = $8, signing_request = null
      where workspace_id = $1 and mode = $2 and wallet_address = $3 and slot = $4
        and status = 'active' and id <> $5 and id <> all ($6) returning ${GRANT_COLUMNS}`,
    values: [grant.workspaceId, grant.mode, grant.walletAddress, grant.slot, grant.id, enforced, now, replacedBy],
    read: firstOrNull(GRANT_ROW, toGrant),
  }
}

/** Returns the pending grant that is to replace `grant`. Uses the index `grants_one_pending_per_agent_and_wallet`. */
export function findPending(grant: Grant): Query<Grant | null> {
  return {
    name: 'find_pending_grant',
    text: `select ${GRANT_COLUMNS} from grants
      where workspace_id = $1 and mode = $2 and agent_id = $3 and wallet_address = $4 and status = 'pending'`,
    values: [grant.workspaceId, grant.mode, grant.agentId, grant.walletAddress],
    read: firstOrNull(GRANT_ROW, toGrant),
  }
}

/** An agent's grants that are not revoked, oldest first. Uses the index `grants_live_by_agent`. */
export function listLiveGrants(
  workspaceId: string,
  mode: Mode,
  { agentId, limit }: { agentId: string; limit: number },
): Query<Grant[]> {
  return {
    name: 'list_live_grants',
    text: `select ${GRANT_COLUMNS} from grants
      where workspace_id = $1 and mode = $2 and agent_id = $3 and status <> 'revoked'
      order by created_at, id limit $4`,
    values: [workspaceId, mode, agentId, limit],
    read: all(GRANT_ROW, toGrant),
  }
}

/** Suspends an active grant, once. Returns null if it was not changed. */
export function markSuspended(workspaceId: string, id: string, now: Date): Query<Grant | null> {
  return {
    name: 'mark_grant_suspended',
    text: `update grants set suspended_at = $3, stop_id = null
      where workspace_id = $1 and id = $2 and status = 'active' and suspended_at is null returning ${GRANT_COLUMNS}`,
    values: [workspaceId, id, now],
    read: firstOrNull(GRANT_ROW, toGrant),
  }
}

export function toGrant(row: RowOf<typeof GRANT_ROW>): Grant {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    mode: row.mode,
    agentId: row.agent_id,
    walletAddress: row.wallet_address,
    ...toPolicy(row),
    status: row.status,
    slot: row.slot,
    signingRequest: row.signing_request === null ? null : fromJson(row.signing_request),
    createdAt: row.created_at,
    activatedAt: row.activated_at,
    suspendedAt: row.suspended_at,
    revokedAt: row.revoked_at,
    replaces: row.replaces,
    replacedBy: row.replaced_by,
    activatedBy: row.activated_by,
    createdBy: row.created_by,
  }
}

export function toPolicy(row: RowOf<typeof POLICY_ROW>): GrantPolicy {
  return {
    maxPerTxMicro: microUsdc(BigInt(row.max_per_tx_micro)),
    dailyCapMicro: microUsdc(BigInt(row.daily_cap_micro)),
    recipientAllowlist: row.recipient_allowlist,
    contractAllowlist: row.contract_allowlist,
    expiresAt: row.expires_at,
    x402: row.x402,
  }
}
