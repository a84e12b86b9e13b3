import type { Context } from '../../context.ts'
import { addPurchases } from '../../purchases/add-purchases.ts'
import type { ListedPayment } from '../../purchases/purchase-summary.ts'
import type { Payment } from '../../payments/payment.ts'
import { toPage, type Page } from '../../../db/bounded-scan.ts'
import { listCandidates } from './candidates-store.ts'
import { listPaymentRows } from './listing-store.ts'
import { formatPosition, isByAmount, parsePosition, type PaymentPosition, type PaymentSort } from './payment-order.ts'
import type { SelectedPayments } from './select-payments.ts'

/** An index may find at most this many payments. If it finds more, a scan of the list finds enough of them. */
export const CANDIDATES_MAX = 10_000

export interface PageRequest {
  readonly selected: SelectedPayments
  readonly sort: PaymentSort
  /** The `next` of the page before. Null for the first page. */
  readonly before: string | null
  readonly limit: number
  readonly scanRowsMax: number
}

/** Reads one page of the selected payments, with what they buy. See `listPayments` for `before` and `limit`. */
export async function readPaymentPage(ctx: Pick<Context, 'db'>, request: PageRequest): Promise<Page<ListedPayment>> {
  const { selected, sort, before, limit, scanRowsMax } = request
  const { selection, lookup } = selected
  const { workspaceId } = selection
  const after = before === null ? null : parsePosition(before, sort)
  const positionOf = (payment: Payment): string => formatPosition(payment, sort)
  // A scan along the index of the recipient is as fast, and needs no sorting.
  const found =
    lookup?.isComplete === true && (isByAmount(sort) || selection.recipient === null)
      ? await readCandidates(ctx, { ...request, after, limit: limit + 1 })
      : null
  const scanned =
    found === null
      ? await ctx.db.readSlow(
          listPaymentRows({ ...selection, sort, after, limit: limit + 1, scanRowsMax }),
          workspaceId,
        )
      : { rows: found, lastLookedAt: null }
  const { items, next } = toPage(scanned, limit, positionOf)
  return { items: await addPurchases(ctx, { workspaceId, payments: items }), next }
}

/**
 * Reads the payments that indexes find for a search, in the part of the list that the page did not reach. There are few
 * or none if the page is full, or if it reached the end.
 */
export async function readFurther(
  ctx: Pick<Context, 'db'>,
  request: PageRequest,
  page: Page<ListedPayment>,
): Promise<readonly ListedPayment[]> {
  const { selected, sort, limit } = request
  // If the look-up is complete, the page has everything that it finds, or it finds too much.
  if (selected.lookup?.isComplete !== false || page.next === null || page.items.length >= limit) return []
  const after = parsePosition(page.next, sort)
  const found = (await readCandidates(ctx, { ...request, after })) ?? []
  return await addPurchases(ctx, { workspaceId: selected.selection.workspaceId, payments: found })
}

async function readCandidates(
  ctx: Pick<Context, 'db'>,
  request: Pick<PageRequest, 'selected' | 'sort' | 'limit'> & { readonly after: PaymentPosition | null },
): Promise<Payment[] | null> {
  const { selected, sort, after, limit } = request
  const { selection, lookup } = selected
  if (lookup === null) return null
  const list = { candidates: lookup, candidatesMax: CANDIDATES_MAX, sort, after, limit }
  return await ctx.db.readSlow(listCandidates(selection, list), selection.workspaceId)
}
