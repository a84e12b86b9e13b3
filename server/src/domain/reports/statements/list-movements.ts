import type { Context } from '../../context.ts'
import { NO_NOTE, type PaymentNote } from '../../payment-notes/payment-note.ts'
import { listNotesOf } from '../../payment-notes/payment-notes-store.ts'
import { listPurchasesOf } from '../../purchases/purchases-store.ts'
import type { Purchase } from '../../purchases/purchase.ts'
import {
  listConfirmedMovements,
  listDepositMovements,
  listFailedMovements,
  listUnexplainedMovements,
  type MovementPage,
} from './movements-store.ts'
import { compareMovements, type Movement, type MovementPosition } from './statement.ts'

/** A movement, with what it bought, and what people wrote about it. `purchase` is null if it is no purchase. */
export interface ListedMovement extends Movement {
  readonly purchase: Pick<Purchase, 'resourceUrl'> | null
  readonly note: PaymentNote
}

/** How many movements a page has at most. */
export const PAGE_MOVEMENTS = 500

/**
 * Lists the movements of a statement in the order of the chain, at most `PAGE_MOVEMENTS`. `after` is the last one of the
 * previous page, or null for the first page.
 */
export async function listMovements(
  ctx: Pick<Context, 'db'>,
  { place, range, after }: Pick<MovementPage, 'place' | 'range'> & { readonly after: MovementPosition | null },
): Promise<ListedMovement[]> {
  const { workspaceId } = place
  const start = { blockNumber: range.fromBlock, id: '' }
  const isInRange = after !== null && compareMovements(after, start) > 0
  const page = { place, range, after: isInRange ? after : start, limit: PAGE_MOVEMENTS }
  const found = await ctx.db.readSlow(
    [
      listConfirmedMovements(page),
      listFailedMovements(page),
      listDepositMovements(page),
      listUnexplainedMovements(page),
    ],
    workspaceId,
  )
  const movements = found.flat().toSorted(compareMovements).slice(0, PAGE_MOVEMENTS)
  const ids = movements.flatMap(({ paymentId }) => (paymentId === null ? [] : [paymentId]))
  if (ids.length === 0) return movements.map((movement) => ({ ...movement, purchase: null, note: NO_NOTE }))
  const facts = [listPurchasesOf(workspaceId, ids), listNotesOf(workspaceId, ids)] as const
  const [purchases, notes] = await ctx.db.readSlow(facts, workspaceId)
  const byId = new Map(purchases.map((purchase) => [purchase.paymentId, purchase]))
  return movements.map((movement) => ({
    ...{ ...movement, purchase: byId.get(movement.id) ?? null, note: notes.get(movement.id) ?? NO_NOTE },
  }))
}

/** Returns a function that reads all movements of a statement, page by page. An empty page is the end. */
export function walkMovements(
  ctx: Pick<Context, 'db'>,
  statement: Pick<MovementPage, 'place' | 'range'>,
): () => Promise<readonly ListedMovement[]> {
  let last: MovementPosition | null = null
  let isOver = false
  return async () => {
    if (isOver) return []
    const page: ListedMovement[] = await listMovements(ctx, { ...statement, after: last })
    isOver = page.length < PAGE_MOVEMENTS
    last = page.at(-1) ?? null
    return page
  }
}
