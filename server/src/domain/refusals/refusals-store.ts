import { listOf, narrow, pick, type RowOf } from '../../db/column.ts'
import { changed, countChanged, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { ProblemCode } from '../../values/problem.ts'
import { DROPPED_BYTES_MAX, DROPPED_FOR_ONE_MAX } from '../stored-bytes/stored-bytes.ts'
import { giveBackText, growText, usedText } from '../stored-bytes/stored-bytes-store.ts'
import type { PaymentRefusal } from './refusal.ts'

const { payment_refusals: refusals } = tables

export const REFUSAL_ROW = {
  ...pick(refusals, 'workspace_id', 'id', 'mode', 'credential_id', 'agent_id'),
  wallet_address: narrow<Address>(refusals.wallet_address),
  to_address: narrow<Address>(refusals.to_address),
  ...pick(refusals, 'amount_usdc', 'memo', 'idempotency_key', 'resource_url'),
  code: narrow<ProblemCode>(refusals.code),
  details: narrow<PaymentRefusal['details']>(refusals.details),
  created_at: refusals.created_at,
}

export const COLUMNS = listOf(REFUSAL_ROW)

/**
 * Inserts a refusal, and counts its bytes. If the workspace has too many bytes of refusals in this mode, its oldest
 * refusals go (D93). Uses primary keys and the index `payment_refusals_listed`.
 */
export function insertRefusal(refusal: PaymentRefusal): Query<boolean> {
  const place = { workspace: '$1::text', mode: '$3::text' }
  const values = [
    refusal.workspaceId,
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
  ]
  return {
    name: 'insert_payment_refusal',
    text: `with excess as (
        select ${usedText('refusals', { ...place, added: '$15::integer' })} - ${DROPPED_BYTES_MAX.refusals} as bytes
      ), oldest as (
        select o.id, o.bytes from excess x cross join lateral (
          select id, bytes, sum(bytes) over (order by id) - bytes as before from (
            select id, bytes from payment_refusals
            where workspace_id = $1::text and mode = $3::text and x.bytes > 0 order by id limit ${DROPPED_FOR_ONE_MAX}
          ) first
        ) o
        where o.before < x.bytes
      ), dropped as (
        delete from payment_refusals r using oldest o where r.workspace_id = $1::text and r.id = o.id
        returning r.workspace_id, r.mode, o.bytes
      ), added as (
        select $1::text as workspace_id, $3::text as mode, $15::integer as bytes
      ), ${growText('refusals', { grown: 'added', dropped: 'dropped' })}
      insert into payment_refusals (${COLUMNS}, bytes)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    values: [...values, Buffer.byteLength(JSON.stringify(values))],
    read: changed,
  }
}

/** Finds a refusal by its id. Uses the primary key. */
export function findRefusal(workspaceId: string, mode: Mode, id: string): Query<PaymentRefusal | null> {
  return {
    name: 'find_payment_refusal',
    text: `select ${COLUMNS} from payment_refusals where workspace_id = $1 and id = $2 and mode = $3`,
    values: [workspaceId, id, mode],
    read: firstOrNull(REFUSAL_ROW, toRefusal),
  }
}

/**
 * Deletes refusals that are older than `before`, at most `limit` of them. Returns how many were deleted. Uses the index
 * `payment_refusals_by_time` and primary keys.
 */
export function deleteOldRefusals(before: Date, limit: number): Query<number> {
  return {
    name: 'delete_old_payment_refusals',
    text: `with deleted as (
        delete from payment_refusals where (workspace_id, id) in (
          select workspace_id, id from payment_refusals where created_at < $1 order by created_at limit $2)
        returning workspace_id, mode, bytes
      ), ${giveBackText('refusals', 'deleted')}
      select from deleted`,
    values: [before, limit],
    read: countChanged,
  }
}

export interface RefusalSurplus {
  /** Only workspaces and modes with a refusal since this time are checked. */
  readonly since: Date
  /** To find these workspaces and modes, at most this many of the refusals since that time are read, the newest first. */
  readonly lookedAtMax: number
  readonly keptMax: number
  readonly limit: number
}

/**
 * Deletes the oldest refusals of each workspace and mode that has more than `keptMax` refusals. Deletes at most `limit`
 * refusals in total. Uses `payment_refusals_by_time`, `payment_refusals_listed` and
 * primary keys.
 */
export function deleteSurplusRefusals({ since, lookedAtMax, keptMax, limit }: RefusalSurplus): Query<number> {
  return {
    name: 'delete_surplus_payment_refusals',
    text: `with deleted as (
        delete from payment_refusals where (workspace_id, id) in (
        select surplus.workspace_id, surplus.id
        from (
          select distinct workspace_id, mode from (
            select workspace_id, mode from payment_refusals where created_at >= $1 order by created_at desc limit $2
          ) lately
        ) place
        cross join lateral (
          select id from payment_refusals where workspace_id = place.workspace_id and mode = place.mode
          order by id desc offset $3 limit 1
        ) newest
        cross join lateral (
          select workspace_id, id from payment_refusals
          where workspace_id = place.workspace_id and mode = place.mode and id <= newest.id order by id limit $4
        ) surplus
        limit $4)
        returning workspace_id, mode, bytes
      ), ${giveBackText('refusals', 'deleted')}
      select from deleted`,
    values: [since, lookedAtMax, keptMax, limit],
    read: countChanged,
  }
}

export function toRefusal(row: RowOf<typeof REFUSAL_ROW>): PaymentRefusal {
  return {
    workspaceId: row.workspace_id,
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
