import { listOf, narrow, pick, type RowOf } from '../../db/column.ts'
import { changed, countChanged, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { ProblemCode } from '../../values/problem.ts'
import type { Scanned } from '../../db/bounded-scan.ts'
import { readScan, scanText, textOfMode } from '../../db/bounded-scan-query.ts'
import type { PaymentRefusal } from './refusal.ts'

const { payment_refusals: refusals } = tables

const REFUSAL_ROW = {
  ...pick(refusals, 'account_id', 'id', 'mode', 'credential_id', 'agent_id'),
  wallet_address: narrow<Address>(refusals.wallet_address),
  to_address: narrow<Address>(refusals.to_address),
  ...pick(refusals, 'amount_usdc', 'memo', 'idempotency_key', 'resource_url'),
  code: narrow<ProblemCode>(refusals.code),
  details: narrow<PaymentRefusal['details']>(refusals.details),
  created_at: refusals.created_at,
}

const COLUMNS = listOf(REFUSAL_ROW)

export function insertRefusal(refusal: PaymentRefusal): Query<boolean> {
  return {
    name: 'insert_payment_refusal',
    text: `insert into payment_refusals (${COLUMNS})
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    values: [
      refusal.accountId,
      refusal.id,
      refusal.mode,
      refusal.credentialId,
      refusal.agentId,
      refusal.wallet,
      refusal.to,
      refusal.amountUsdc,
      refusal.memo,
      refusal.idempotencyKey,
      refusal.resourceUrl,
      refusal.code,
      JSON.stringify(refusal.details),
      refusal.createdAt,
    ],
    read: changed,
  }
}

/** Finds a refusal by its id. Uses the primary key. */
export function findRefusal(accountId: string, mode: Mode, id: string): Query<PaymentRefusal | null> {
  return {
    name: 'find_payment_refusal',
    text: `select ${COLUMNS} from payment_refusals where account_id = $1 and id = $2 and mode = $3`,
    values: [accountId, id, mode],
    read: firstOrNull(REFUSAL_ROW, toRefusal),
  }
}

export interface RefusalScan {
  readonly accountId: string
  readonly mode: Mode
  readonly agentId: string | null
  /** Only refusals with a lower id than this are read. It need not be the id of a refusal. */
  readonly below: string
  readonly limit: number
  readonly scanRowsMax: number
}

const listText = textOfMode('list_payment_refusals', (mode) =>
  scanText({
    columns: COLUMNS,
    table: 'payment_refusals',
    range: `account_id = $1 and mode = ${mode} and id < $2`,
    filter: '($3::text is null or agent_id = $3)',
    limit: '$4',
    scanRowsMax: '$5',
  }),
)

/** Lists refusals, newest first. Uses the index `payment_refusals_listed`. */
export function listRefusalRows(scan: RefusalScan): Query<Scanned<PaymentRefusal>> {
  const { accountId, mode, agentId, below, limit, scanRowsMax } = scan
  return {
    ...listText(mode),
    values: [accountId, below, agentId, limit, scanRowsMax],
    read: readScan(REFUSAL_ROW, toRefusal),
  }
}

/**
 * Deletes refusals that are older than `before`, at most `limit` of them. Returns how many were deleted. Uses the index
 * `payment_refusals_by_time`.
 */
export function deleteOldRefusals(before: Date, limit: number): Query<number> {
  return {
    name: 'delete_old_payment_refusals',
    text: `delete from payment_refusals where (account_id, id) in (
        select account_id, id from payment_refusals where created_at < $1 order by created_at limit $2)`,
    values: [before, limit],
    read: countChanged,
  }
}

export interface RefusalSurplus {
  /** Only accounts and modes with a refusal since this time are checked. */
  readonly since: Date
  /** To find these accounts and modes, at most this many of the refusals since that time are read, the newest first. */
  readonly lookedAtMax: number
  readonly keptMax: number
  readonly limit: number
}

/**
 * Deletes the oldest refusals of each account and mode that has more than `keptMax` refusals. Deletes at most `limit`
 * refusals in total. Uses `payment_refusals_by_time` and `payment_refusals_listed`.
 */
export function deleteSurplusRefusals({ since, lookedAtMax, keptMax, limit }: RefusalSurplus): Query<number> {
  return {
    name: 'delete_surplus_payment_refusals',
    text: `delete from payment_refusals where (account_id, id) in (
        select surplus.account_id, surplus.id
        from (
          select distinct account_id, mode from (
            select account_id, mode from payment_refusals where created_at >= $1 order by created_at desc limit $2
          ) lately
        ) place
        cross join lateral (
          select id from payment_refusals where account_id = place.account_id and mode = place.mode
          order by id desc offset $3 limit 1
        ) newest
        cross join lateral (
          select account_id, id from payment_refusals
          where account_id = place.account_id and mode = place.mode and id <= newest.id order by id limit $4
        ) surplus
        limit $4)`,
    values: [since, lookedAtMax, keptMax, limit],
    read: countChanged,
  }
}

function toRefusal(row: RowOf<typeof REFUSAL_ROW>): PaymentRefusal {
  return {
    accountId: row.account_id,
    id: row.id,
    mode: row.mode,
    credentialId: row.credential_id,
    agentId: row.agent_id,
    wallet: row.wallet_address,
    to: row.to_address,
    amountUsdc: row.amount_usdc,
    memo: row.memo,
    idempotencyKey: row.idempotency_key,
    resourceUrl: row.resource_url,
    code: row.code,
    details: row.details,
    createdAt: row.created_at,
  }
}
