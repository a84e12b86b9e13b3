import { changed, firstOrNull, type Query, type Row } from '../../db/query.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { microUsdc } from '../../values/money.ts'
import type { Grant, StoredSigningRequest } from './grant.ts'

const COLUMNS = `account_id, id, mode, agent_id, wallet_address, max_per_tx_micro, daily_cap_micro, recipient_allowlist,
  contract_allowlist, expires_at, status, enclave_policy_id, signing_request, created_at, activated_at, suspended_at,
  revoked_at`

export const ONE_LIVE_GRANT_INDEX = 'grants_one_live_per_agent_and_wallet'

export function insertGrant(grant: Grant): Query<boolean> {
  return {
    name: 'insert_grant',
    text: `insert into grants (account_id, id, mode, agent_id, wallet_address, max_per_tx_micro, daily_cap_micro,
        recipient_allowlist, contract_allowlist, expires_at, status, enclave_policy_id, created_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
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

/** How many grants the wallet has that are not revoked, and whether one of them is this agent's. By `grants_by_wallet`. */
export function countLiveGrants(
  accountId: string,
  mode: Mode,
  wallet: Address,
  agentId: string,
): Query<{ total: number; ofAgent: number }> {
  return {
    name: 'count_live_grants',
    text: `select count(*) as total, count(*) filter (where agent_id = $4) as of_agent from grants
      where account_id = $1 and mode = $2 and wallet_address = $3 and status <> 'revoked'`,
    values: [accountId, mode, wallet, agentId],
    read: (rows) => ({ total: Number(rows[0]?.['total']), ofAgent: Number(rows[0]?.['of_agent']) }),
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

/** pending → active, once. */
export function markActive(accountId: string, id: string, now: Date): Query<Grant | null> {
  return {
    name: 'mark_grant_active',
    text: `update grants set status = 'active', activated_at = $3, signing_request = null
      where account_id = $1 and id = $2 and status = 'pending' returning ${COLUMNS}`,
    values: [accountId, id, now],
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

/** Suspends a grant that is not revoked, once. */
export function markSuspended(accountId: string, id: string, now: Date): Query<boolean> {
  return {
    name: 'mark_grant_suspended',
    text: `update grants set suspended_at = $3
      where account_id = $1 and id = $2 and status <> 'revoked' and suspended_at is null`,
    values: [accountId, id, now],
    read: changed,
  }
}

function toGrant(row: Row): Grant {
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
  }
}
