import { computed, narrow, nullable, pick } from '../db/column.ts'
import { all, one, type Query } from '../db/query.ts'
import { tables } from '../db/tables.ts'
import { MODES, type Mode } from '../values/mode.ts'

/** Pending payments of one kind, with or without a transaction hash. */
export interface PendingPayments {
  readonly hasHash: boolean
  readonly count: number
  readonly oldestAt: Date | null
}

/** Pending deliveries to endpoints that hang, or to all others. */
export interface PendingDeliveries {
  readonly hangs: boolean
  readonly count: number
  readonly dueCount: number
  readonly nextAttemptAt: Date | null
}

export interface Lease {
  readonly name: string
  readonly expiresAt: Date
}

export interface ChainCursor {
  readonly name: string
  readonly mode: Mode
  readonly block: number
}

/** How many there are of something in a mode. */
export interface CountOfMode {
  readonly mode: Mode
  readonly count: number
}

const PENDING_ROW = { has_hash: computed.bool, pending: computed.int8, oldest_at: nullable(computed.timestamptz) }

function toPending(row: { readonly has_hash: boolean; readonly pending: string; readonly oldest_at: Date | null }) {
  return { hasHash: row.has_hash, count: Number(row.pending), oldestAt: row.oldest_at }
}

/** Counts pending transfers and withdrawals, at most `limit`. Uses the index `payments_to_reconcile`. */
export function countPendingTransfers(mode: Mode, limit: number): Query<PendingPayments[]> {
  return {
    name: 'count_pending_transfers',
    text: `select has_hash, count(*) as pending, min(created_at) as oldest_at
      from (
        select tx_hash is not null as has_hash, created_at from payments
        where mode = $1 and status = 'pending' and kind <> 'x402'
        order by next_lookup_at, id limit $2
      ) p
      group by has_hash`,
    values: [mode, limit],
    read: all(PENDING_ROW, toPending),
  }
}

/** Counts pending purchases, at most `limit`. Uses the index `authorizations_awaiting_chain`. */
export function countPendingPurchases(mode: Mode, limit: number): Query<PendingPayments[]> {
  return {
    name: 'count_pending_purchases',
    text: `select has_hash, count(*) as pending, min(created_at) as oldest_at
      from (
        select tx_hash is not null as has_hash, created_at from payments
        where mode = $1 and status = 'pending' and kind = 'x402'
        order by next_lookup_at, id limit $2
      ) p
      group by has_hash`,
    values: [mode, limit],
    read: all(PENDING_ROW, toPending),
  }
}

/**
 * Counts pending deliveries to endpoints that are enabled, at most `limit`. Uses the index `deliveries_due`, and looks
 * up the endpoint of each delivery.
 */
export function countPendingDeliveries(now: Date, limit: number): Query<PendingDeliveries[]> {
  return {
    name: 'count_pending_deliveries',
    text: `select e.hangs, count(*) as pending, count(*) filter (where d.next_attempt_at <= $1) as due,
        min(d.next_attempt_at) as next_attempt_at
      from (
        select workspace_id, endpoint_id, next_attempt_at from deliveries where status = 'pending'
        order by workspace_id, endpoint_id, next_attempt_at limit $2
      ) d
      cross join lateral (
        select hangs from webhook_endpoints
        where workspace_id = d.workspace_id and id = d.endpoint_id and deleted_at is null and disabled_at is null
        limit 1
      ) e
      group by e.hangs`,
    values: [now, limit],
    read: all(
      {
        hangs: tables.webhook_endpoints.hangs,
        pending: computed.int8,
        due: computed.int8,
        next_attempt_at: nullable(computed.timestamptz),
      },
      (row) => ({
        hangs: row.hangs,
        count: Number(row.pending),
        dueCount: Number(row.due),
        nextAttemptAt: row.next_attempt_at,
      }),
    ),
  }
}

/** Lists the leases of the jobs, at most `limit`. */
export function listLeases(limit: number): Query<Lease[]> {
  return {
    name: 'list_leases',
    text: 'select name, expires_at from leases order by name limit $1',
    values: [limit],
    read: all(pick(tables.leases, 'name', 'expires_at'), (row) => ({ name: row.name, expiresAt: row.expires_at })),
  }
}

/** Lists up to which block the jobs have read each chain. */
export function listChainCursors(): Query<ChainCursor[]> {
  return {
    name: 'list_chain_cursors',
    text: `select 'deposits' as name, mode, block_number as block from deposit_cursors where mode = any($1)
      union all select 'ledger', mode, block_number from ledger_cursors where mode = any($1)`,
    values: [MODES],
    read: all({ name: computed.text, mode: narrow<Mode>(computed.text), block: computed.int8 }, (row) => ({
      name: row.name,
      mode: row.mode,
      block: Number(row.block),
    })),
  }
}

/** The size of the transparency log, and when the oldest change was made that is not in it yet. */
export interface LogProgress {
  readonly leaves: number
  readonly oldestQueuedAt: Date | null
}

/** Reads how far the transparency log is (D80). Uses the primary keys. */
export function readLogProgress(): Query<LogProgress> {
  return {
    name: 'read_log_progress',
    text: `select size, (select at from log_queue order by number limit 1) as oldest_queued_at
      from log_head where is_only`,
    values: [],
    read: one({ size: tables.log_head.size, oldest_queued_at: nullable(computed.timestamptz) }, (row) => ({
      leaves: Number(row.size),
      oldestQueuedAt: row.oldest_queued_at,
    })),
  }
}

/** Counts transfers that no payment explains (D96), at most `limit`. Uses the index `unexplained_transfers_by_find`. */
export function countUnexplainedTransfers(limit: number): Query<CountOfMode[]> {
  return {
    name: 'count_unexplained_transfers',
    text: `select mode, count(*) as transfers
      from (
        select mode from unexplained_transfers where payment_id is null order by workspace_id, mode, found_at limit $1
      ) t
      group by mode`,
    values: [limit],
    read: all({ mode: narrow<Mode>(tables.unexplained_transfers.mode), transfers: computed.int8 }, (row) => ({
      mode: row.mode,
      count: Number(row.transfers),
    })),
  }
}

/**
 * Counts active grants whose terms differ from those that an owner signed (D79), at most `limit`. Uses the index
 * `grants_differing`.
 */
export function countDifferingGrants(limit: number): Query<CountOfMode[]> {
  return {
    name: 'count_differing_grants',
    text: `select mode, count(*) as grants
      from (
        select mode from grants where status = 'active' and differs_since is not null
        order by mode, workspace_id, id limit $1
      ) g
      group by mode`,
    values: [limit],
    read: all({ mode: narrow<Mode>(tables.grants.mode), grants: computed.int8 }, (row) => ({
      mode: row.mode,
      count: Number(row.grants),
    })),
  }
}
