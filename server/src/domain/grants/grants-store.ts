import { all, changed, firstOrNull, type Query, type Row } from '../../db/query.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc } from '../../values/money.ts'
import type { Grant, StoredSigningRequest } from './grant.ts'

export const COLUMNS = `account_id, id, mode, agent_id, wallet_address, max_per_tx_micro, daily_cap_micro,
  recipient_allowlist, contract_allowlist, expires_at, status, enclave_policy_id, signing_request, created_at,
  activated_at, suspended_at, revoked_at, replaces, replaced_by, activated_by`

export function insertGrant(grant: Grant): Query<boolean> {
  return {
    name: 'insert_grant',
    text: `insert into grants (account_id, id, mode, agent_id, wallet_address, max_per_tx_micro, daily_cap_micro,
        recipient_allowlist, contract_allowlist, expires_at, status, enclave_policy_id, created_at, replaces)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    values: [
      grant.accountId,
      grant.id,
      grant.mode,
      grant.agentId,
      grant.walletAddress,
      grant.maxPerTxMicro,
      grant.dailyCapMicro,
      grant.recipientAllowlist,
      grant.contractAllowlist,
      grant.expiresAt,
      grant.status,
      grant.enclavePolicyId,
      grant.createdAt,
      grant.replaces,
    ],
    read: changed,
  }
}

/** By the primary key. */
export function findGrant(accountId: string, id: string): Query<Grant | null> {
  return {
    name: 'find_grant',
    text: `select ${COLUMNS} from grants where account_id = $1 and id = $2`,
    values: [accountId, id],
    read: firstOrNull(toGrant),
  }
}

/**
 * How many agents have a grant on the wallet that is not revoked (a pending replacement takes no further place), and
 * how many of these grants are this agent's. By `grants_by_wallet`.
 */
export function countLiveGrants(
  accountId: string,
  mode: Mode,
  wallet: Address,
  agentId: string,
): Query<{ total: number; ofAgent: number }> {
  return {
    name: 'count_live_grants',
    text: `select count(distinct agent_id) as total, count(*) filter (where agent_id = $4) as of_agent from grants
      where account_id = $1 and mode = $2 and wallet_address = $3 and status <> 'revoked'`,
    values: [accountId, mode, wallet, agentId],
    read: (rows) => ({ total: Number(rows[0]?.['total']), ofAgent: Number(rows[0]?.['of_agent']) }),
  }
}

/** The policies of the agent's other grants on the wallet that are not revoked. By `grants_live_by_agent`. */
export function listOtherPolicies(grant: Grant): Query<string[]> {
  return {
    name: 'list_other_policies',
    text: `select enclave_policy_id from grants
      where account_id = $1 and mode = $2 and agent_id = $3 and wallet_address = $4 and status <> 'revoked' and id <> $5`,
    values: [grant.accountId, grant.mode, grant.agentId, grant.walletAddress, grant.id],
    read: all((row) => row['enclave_policy_id'] as string),
  }
}

/** Keeps what the owner is asked to sign; a later request replaces it. */
export function keepSigningRequest(grant: Grant, request: StoredSigningRequest): Query<boolean> {
  return {
    name: 'keep_signing_request',
    text: `update grants set signing_request = $3 where account_id = $1 and id = $2 and status <> 'revoked'`,
    values: [grant.accountId, grant.id, JSON.stringify(request)],
    read: changed,
  }
}

/** Writes who hands it in, if it is still what the owner is asked to sign. */
export function markHandedIn(grant: Grant, request: StoredSigningRequest): Query<boolean> {
  return {
    name: 'mark_handed_in',
    text: `update grants set signing_request = $3 where account_id = $1 and id = $2 and status <> 'revoked'
        and signing_request->>'change' = $4 and signing_request->>'expires_at' = $5`,
    values: [grant.accountId, grant.id, JSON.stringify(request), request.change, request.expires_at],
    read: changed,
  }
}

/**
 * pending → active, once. `activatedBy` is a person's id; null: the operator's doing. A suspension of the grant that it
 * replaces goes on, if it came at `signedSince` or later.
 */
export function markActive(
  accountId: string,
  id: string,
  now: Date,
  { activatedBy = null, signedSince = now }: { activatedBy?: string | null; signedSince?: Date } = {},
): Query<Grant | null> {
  return {
    name: 'mark_grant_active',
    text: `update grants g set status = 'active', activated_at = $3, activated_by = $4, signing_request = null,
        suspended_at = coalesce(g.suspended_at, (select old.suspended_at from grants old
          where old.account_id = g.account_id and old.id = g.replaces and old.suspended_at >= $5))
      where account_id = $1 and id = $2 and status = 'pending' returning ${COLUMNS}`,
    values: [accountId, id, now, activatedBy, signedSince],
    read: firstOrNull(toGrant),
  }
}

/** pending or active → revoked, once. */
export function markRevoked(accountId: string, id: string, now: Date): Query<Grant | null> {
  return {
    name: 'mark_grant_revoked',
    text: `update grants set status = 'revoked', revoked_at = $3, signing_request = null
      where account_id = $1 and id = $2 and status <> 'revoked' returning ${COLUMNS}`,
    values: [accountId, id, now],
    read: firstOrNull(toGrant),
  }
}

/**
 * active → revoked for the one other grant of the agent on the wallet that the enclave enforces no more: its policy is
 * not among `bound`. `replacedBy` is the grant that took its place. By `grants_one_active_per_agent_and_wallet`.
 */
export function endUnbound(
  grant: Grant,
  { bound, replacedBy, now }: { bound: readonly string[]; replacedBy: string | null; now: Date },
): Query<Grant | null> {
  return {
    name: 'end_unbound_grant',
    text: `update grants set status = 'revoked', revoked_at = $7, replaced_by = $8, signing_request = null
      where account_id = $1 and mode = $2 and agent_id = $3 and wallet_address = $4 and status = 'active'
        and id <> $5 and enclave_policy_id <> all ($6) returning ${COLUMNS}`,
    values: [grant.accountId, grant.mode, grant.agentId, grant.walletAddress, grant.id, bound, now, replacedBy],
    read: firstOrNull(toGrant),
  }
}

/** What waits to take a grant's place. By `grants_one_pending_per_agent_and_wallet`. */
export function findPending(grant: Grant): Query<Grant | null> {
  return {
    name: 'find_pending_grant',
    text: `select ${COLUMNS} from grants
      where account_id = $1 and mode = $2 and agent_id = $3 and wallet_address = $4 and status = 'pending'`,
    values: [grant.accountId, grant.mode, grant.agentId, grant.walletAddress],
    read: firstOrNull(toGrant),
  }
}

/** Of one agent, not revoked, the oldest first. By `grants_live_by_agent`. */
export function listLiveGrants(
  accountId: string,
  mode: Mode,
  { agentId, limit }: { agentId: string; limit: number },
): Query<Grant[]> {
  return {
    name: 'list_live_grants',
    text: `select ${COLUMNS} from grants
      where account_id = $1 and mode = $2 and agent_id = $3 and status <> 'revoked' order by id limit $4`,
    values: [accountId, mode, agentId, limit],
    read: all(toGrant),
  }
}

/** Suspends an active grant, once. */
export function markSuspended(accountId: string, id: string, now: Date): Query<boolean> {
  return {
    name: 'mark_grant_suspended',
    text: `update grants set suspended_at = $3
      where account_id = $1 and id = $2 and status = 'active' and suspended_at is null`,
    values: [accountId, id, now],
    read: changed,
  }
}

export function toGrant(row: Row): Grant {
  return {
    id: row['id'],
    accountId: row['account_id'],
    mode: row['mode'],
    agentId: row['agent_id'],
    walletAddress: row['wallet_address'] as Address,
    maxPerTxMicro: microUsdc(BigInt(row['max_per_tx_micro'])),
    dailyCapMicro: microUsdc(BigInt(row['daily_cap_micro'])),
    recipientAllowlist: row['recipient_allowlist'],
    contractAllowlist: row['contract_allowlist'],
    expiresAt: row['expires_at'],
    status: row['status'],
    enclavePolicyId: row['enclave_policy_id'],
    signingRequest: row['signing_request'],
    createdAt: row['created_at'],
    activatedAt: row['activated_at'],
    suspendedAt: row['suspended_at'],
    revokedAt: row['revoked_at'],
    replaces: row['replaces'],
    replacedBy: row['replaced_by'],
    activatedBy: row['activated_by'],
  }
}
