import type { Context } from '../../../server/src/domain/context.ts'
import type { Purchase } from '../../../server/src/domain/purchases/purchase.ts'
import { insertPurchase } from '../../../server/src/domain/purchases/purchases-store.ts'
import type { ListedPayment } from '../../../server/src/domain/purchases/purchase-summary.ts'
import { seedPayment } from './payment-rows.ts'
import type { Seed } from './seed.ts'

type Bought = Partial<Pick<Purchase, 'resourceUrl' | 'delivery'>>

/**
 * Inserts a payment of kind `x402` and its purchase, without events. By default, the seller has delivered, and a failed
 * payment has the failure code `authorization_expired`.
 */
export async function seedPurchase(
  ctx: Context,
  seeded: Seed,
  { resourceUrl = 'https://api.example/goods', delivery = 'delivered' }: Bought = {},
  changes: Parameters<typeof seedPayment>[2] = {},
): Promise<ListedPayment> {
  const payment = await seedPayment(ctx, seeded, {
    ...{ kind: 'x402', firstBlock: 1n, failureCode: changes.status === 'failed' ? 'authorization_expired' : null },
    ...changes,
  })
  const purchase: Purchase = {
    ...{ workspaceId: payment.workspaceId, mode: payment.mode, paymentId: payment.id, protocol: 'x402_v2' },
    ...{ resourceUrl, host: new URL(resourceUrl).host, method: 'GET', description: null },
    ...{ delivery, attempts: 1, responseStatus: null, respondedAt: null, createdAt: payment.createdAt },
  }
  const sealed = { orderSealed: Buffer.alloc(1), headerSealed: null, responseSealed: null }
  const stored = { requestHash: Buffer.alloc(32), workedUntil: payment.createdAt, reservedBytes: 0 }
  await ctx.db.write(insertPurchase({ ...purchase, ...sealed }, stored))
  const { paymentId, host } = purchase
  return { ...payment, purchase: { paymentId, resourceUrl, host, delivery, isResolved: false } }
}
