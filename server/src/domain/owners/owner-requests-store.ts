import { listOf, narrow, pick, type RowOf } from '../../db/column.ts'
import { all, changed, countChanged, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { OwnerRequest, OwnersChangeDetails, OwnersChangeKind, StoredRequest } from './owner-request.ts'
import type { Wallet } from '../wallets/wallet.ts'

const { owner_requests: requests } = tables

/** At most this many requests that are not recorded as done are read, the newest ones. Older requests have expired. */
export const OPEN_REQUESTS_MAX = 20

/** The columns that every request has. */
export const STORED_ROW = {
  ...pick(requests, 'workspace_id', 'id'),
  mode: narrow<Mode>(requests.mode),
  wallet_address: narrow<Address>(requests.wallet_address),
  ...pick(requests, 'expires_at', 'created_at', 'created_by'),
  submitted_by: narrow<Actor>(requests.submitted_by),
}

const REQUEST_ROW = {
  ...STORED_ROW,
  kind: narrow<OwnersChangeKind>(requests.kind),
  details: narrow<OwnersChangeDetails>(requests.details),
  done_at: requests.done_at,
}

const COLUMNS = listOf(REQUEST_ROW)

export function insertOwnerRequest(
  request: StoredRequest,
  { kind, details }: { kind: OwnersChangeKind | 'withdraw'; details: object },
): Query<boolean> {
  return {
    name: 'insert_owner_request',
    text: `insert into owner_requests (workspace_id, id, mode, wallet_address, kind, details, expires_at, created_at, created_by)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      request.workspaceId,
      request.id,
      request.mode,
      request.walletAddress,
      kind,
      JSON.stringify(details),
      request.expiresAt,
      request.createdAt,
      request.createdBy,
    ],
    read: changed,
  }
}

/** Finds a request that changes the owners of a wallet. Uses the primary key. */
export function findOwnerRequest(workspaceId: string, id: string): Query<OwnerRequest | null> {
  return {
    name: 'find_owner_request',
    text: `select ${COLUMNS} from owner_requests where workspace_id = $1 and id = $2 and kind <> 'withdraw'`,
    values: [workspaceId, id],
    read: firstOrNull(REQUEST_ROW, toRequest),
  }
}

/**
 * Lists a wallet's requests that change its owners and are not recorded as done, newest first, at most `limit` of them.
 * Uses the index `owner_requests_open`.
 */
export function listOpenOwnerRequests(
  { workspaceId, mode, address }: Pick<Wallet, 'workspaceId' | 'mode' | 'address'>,
  limit: number,
): Query<OwnerRequest[]> {
  return {
    name: 'list_open_owner_requests',
    text: `select ${COLUMNS} from owner_requests
      where workspace_id = $1 and mode = $2 and wallet_address = $3 and kind <> 'withdraw' and done_at is null
      order by id desc limit $4`,
    values: [workspaceId, mode, address, limit],
    read: all(REQUEST_ROW, toRequest),
  }
}

/**
 * Lists the removals of a passkey from these wallets that were submitted and are not recorded as done. Of each wallet, at
 * most `limit` requests are read, the newest ones. Uses the index `owner_requests_open`.
 */
export function listUncertainRemovals(
  { workspaceId, mode }: Pick<Wallet, 'workspaceId' | 'mode'>,
  { wallets, credentialId }: { wallets: readonly Address[]; credentialId: string },
  limit: number,
): Query<OwnerRequest[]> {
  return {
    name: 'list_uncertain_removals',
    text: `select ${COLUMNS}
      from unnest($3::text[]) as w (of_wallet)
      cross join lateral (select ${COLUMNS} from owner_requests
        where workspace_id = $1 and mode = $2 and wallet_address = of_wallet and kind <> 'withdraw' and done_at is null
        order by id desc limit $4) r
      where kind = 'remove_owner' and submitted_by is not null and details->>'credential_id' = $5`,
    values: [workspaceId, mode, wallets, limit, credentialId],
    read: all(REQUEST_ROW, toRequest),
  }
}

/** Records who submits the owner's signature. Returns false if the change was recorded meanwhile. */
export function markOwnerRequestSubmitted(request: OwnerRequest, by: Actor): Query<boolean> {
  return {
    name: 'mark_owner_request_submitted',
    text: `update owner_requests set submitted_by = $3 where workspace_id = $1 and id = $2 and done_at is null`,
    values: [request.workspaceId, request.id, JSON.stringify(by)],
    read: changed,
  }
}

/** Forgets that a signature was submitted, because the enclave did not make the change and no longer can. */
export function clearOwnerRequestSubmitter(request: OwnerRequest): Query<boolean> {
  return {
    name: 'clear_owner_request_submitter',
    text: `update owner_requests set submitted_by = null where workspace_id = $1 and id = $2 and done_at is null`,
    values: [request.workspaceId, request.id],
    read: changed,
  }
}

/**
 * Records that the change was made, and who submitted the signature. Returns false if this was recorded already. If an
 * earlier submitter is stored, keeps that one: a later submitter may only have found the change at the enclave.
 */
export function markOwnerRequestDone(request: OwnerRequest, by: Actor, now: Date): Query<boolean> {
  return {
    name: 'mark_owner_request_done',
    text: `update owner_requests set done_at = $4, submitted_by = coalesce(submitted_by, $3)
      where workspace_id = $1 and id = $2 and done_at is null`,
    values: [request.workspaceId, request.id, JSON.stringify(by), now],
    read: changed,
  }
}

/**
 * Deletes requests that expired before this time. Keeps a submitted change of owners whose outcome was never recorded:
 * the enclave may have made the change, and only this request explains it. Uses the index `owner_requests_by_end`.
 */
export function deleteEndedOwnerRequests(expiredBefore: Date, rowsMax: number): Query<number> {
  return {
    name: 'delete_ended_owner_requests',
    text: `delete from owner_requests where (workspace_id, id) in (
        select workspace_id, id from owner_requests
        where expires_at <= $1 and (kind = 'withdraw' or submitted_by is null or done_at is not null)
        order by expires_at limit $2 for update skip locked)`,
    values: [expiredBefore, rowsMax],
    read: countChanged,
  }
}

function toRequest(row: RowOf<typeof REQUEST_ROW>): OwnerRequest {
  return { ...toStored(row), kind: row.kind, details: row.details, doneAt: row.done_at }
}

export function toStored(row: RowOf<typeof STORED_ROW>): StoredRequest {
  return {
    workspaceId: row.workspace_id,
    id: row.id,
    mode: row.mode,
    walletAddress: row.wallet_address,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    createdBy: row.created_by,
    submittedBy: row.submitted_by,
  }
}
