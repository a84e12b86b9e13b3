import type { Context } from '../context.ts'
import type { Payment } from '../payments/payment.ts'
import type { ListedPayment } from './purchase-summary.ts'
import { listPurchasesOf } from './purchases-store.ts'
import { listResolvedAmong } from './resolutions-store.ts'

/**
 * Adds to each payment of a list what it buys. Reads nothing if no payment of the list is a purchase. All payments must
 * be of this workspace.
 */
export async function addPurchases(
  ctx: Pick<Context, 'db'>,
  { workspaceId, payments }: { readonly workspaceId: string; readonly payments: readonly Payment[] },
): Promise<ListedPayment[]> {
  const ids = payments.filter(({ kind }) => kind === 'x402').map(({ id }) => id)
  if (ids.length === 0) return payments.map((payment) => ({ ...payment, purchase: null }))
  const [purchases, resolved] = await Promise.all([
    ctx.db.readSlow(listPurchasesOf(workspaceId, ids), workspaceId),
    ctx.db.readSlow(listResolvedAmong(workspaceId, ids), workspaceId),
  ])
  const byId = new Map(
    purchases.map(({ paymentId, resourceUrl, host, delivery }) => [
      paymentId,
      { paymentId, resourceUrl, host, delivery, isResolved: resolved.includes(paymentId) },
    ]),
  )
  return payments.map((payment) => ({ ...payment, purchase: byId.get(payment.id) ?? null }))
}
