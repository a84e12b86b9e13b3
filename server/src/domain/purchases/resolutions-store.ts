import { pick, required } from '../../db/column.ts'
import { all, changed, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Mode } from '../../values/mode.ts'
import type { PurchasePlace } from './purchases-store.ts'
import type { Resolution } from './resolution.ts'

const { purchases } = tables

const RESOLUTION_ROW = {
  resolved_at: required(purchases.resolved_at),
  resolved_by: required(purchases.resolved_by),
  resolution: required(purchases.resolution),
}

type PlaceInMode = PurchasePlace & { readonly mode: Mode }

/**
 * Marks a purchase as resolved. Returns false if it was not paid, was delivered, may still be delivered, or is resolved
 * already. Uses primary keys.
 */
export function markPurchaseResolved(
  { workspaceId, mode, paymentId }: PlaceInMode,
  { resolvedAt, resolvedBy, note }: Resolution,
): Query<boolean> {
  return {
    name: 'mark_purchase_resolved',
    text: `update purchases u set resolved_at = $4, resolved_by = $5, resolution = $6
      where u.workspace_id = $1 and u.payment_id = $2 and u.mode = $3 and u.resolved_at is null
        and u.delivery in ('failed', 'unknown')
        and (
          select p.status = 'confirmed' and (u.delivery = 'failed' or p.valid_before <= $4)
          from payments p where p.workspace_id = $1 and p.id = $2)`,
    values: [workspaceId, paymentId, mode, resolvedAt, resolvedBy, note],
    read: changed,
  }
}

/** Uses the primary key. */
export function findResolution({ workspaceId, mode, paymentId }: PlaceInMode): Query<Resolution | null> {
  return {
    name: 'find_purchase_resolution',
    text: `select resolved_at, resolved_by, resolution from purchases
      where workspace_id = $1 and payment_id = $2 and mode = $3 and resolved_at is not null`,
    values: [workspaceId, paymentId, mode],
    read: firstOrNull(RESOLUTION_ROW, (row) => ({
      resolvedAt: row.resolved_at,
      resolvedBy: row.resolved_by,
      note: row.resolution,
    })),
  }
}

/** Returns whether the payment is a purchase. Uses the primary key. */
export function hasPurchase({ workspaceId, mode, paymentId }: PlaceInMode): Query<boolean> {
  return {
    name: 'has_purchase',
    text: 'select payment_id from purchases where workspace_id = $1 and payment_id = $2 and mode = $3',
    values: [workspaceId, paymentId, mode],
    read: changed,
  }
}

/** Lists those of these payments whose purchases are resolved. Uses the primary key. */
export function listResolvedAmong(workspaceId: string, paymentIds: readonly string[]): Query<string[]> {
  return {
    name: 'list_resolved_purchases_among',
    text: `select payment_id from purchases
      where workspace_id = $1 and payment_id = any($2::text[]) and resolved_at is not null`,
    values: [workspaceId, paymentIds],
    read: all(pick(purchases, 'payment_id'), (row) => row.payment_id),
  }
}
