import type { HeldPlace } from '../../lib/fair-places.ts'
import type { Context } from '../context.ts'
import { mayPayAs } from '../payment-requests/payment-request.ts'
import type { Payment } from '../payments/payment.ts'
import { findPaymentByKey } from '../payments/payments-store.ts'
import { comparePurchase, isSamePurchase, type ComparedPurchase, type PurchaseField } from './compare-purchase.ts'
import type { PurchaseTerms, AgentRequest } from './purchase-request.ts'
import { findPurchase, listPurchasesOf, type SealedPurchase } from './purchases-store.ts'
import { isAnswered, type Purchase } from './purchase.ts'
import { withPurchasePlace } from './take-purchase-place.ts'
import { openOrder } from './seal-purchase.ts'
import { placeOf } from './sign-header.ts'
import { continuePurchase, readState, type PurchaseState } from './work-on-purchase.ts'
import type { WorkBounds } from './send-paid-request.ts'
import { withRecordedOutcome } from '../payments/with-recorded-outcome.ts'

/** The payment that already has an idempotency key, and the state of its purchase. */
export interface EarlierPurchase {
  readonly payment: Payment
  /**
   * Null if the payment is no purchase, if the credential may only read it, or if the request and the purchase belong
   * to different operations (`payForResource` and `signForResource`).
   */
  readonly state: PurchaseState | null
  readonly purchase: SealedPurchase | null
  /** The fields in which the request differs from the payment. */
  readonly mismatches: readonly PurchaseField[]
}

type Key = Pick<PurchaseTerms, 'workspaceId' | 'mode' | 'idempotencyKey' | 'boundAgentId'>

/** Returns the payment that has this idempotency key. Null if there is none. */
export async function findByKey(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode, idempotencyKey }: Pick<Key, 'workspaceId' | 'mode' | 'idempotencyKey'>,
): Promise<Payment | null> {
  return await ctx.db.read(findPaymentByKey(workspaceId, mode, idempotencyKey))
}

/**
 * Returns the payment that has the request's idempotency key, and the state of its purchase. If the request means the
 * same purchase (`isSamePurchase`) and the purchase is not finished, continues it first. Nothing is ever signed with
 * another nonce (D66). A request for another purchase only reads what is stored. A credential of another agent does not
 * get the state, because the state contains the seller's response: such a credential may read every payment of the
 * workspace, but not the goods that another agent has bought (D25). Without `request`, nothing is sent. `onWait` is
 * called before anything that may wait for a seller, so a finished purchase counts as work until its response is sent.
 */
export async function replayPurchase(
  ctx: Context,
  {
    key,
    payment,
    compared,
    request,
  }: {
    readonly key: Key
    readonly payment: Payment
    readonly compared: ComparedPurchase
    readonly request: AgentRequest | null
  },
  { onWait, ...bounds }: WorkBounds & { readonly onWait: () => void },
): Promise<EarlierPurchase> {
  if (payment.kind !== 'x402') {
    return { payment, purchase: null, state: null, mismatches: comparePurchase({ payment, order: null }, compared) }
  }
  const known = await readState(ctx, payment)
  const { purchase } = known
  const mismatches = comparePurchase({ payment, order: openOrder(ctx.sealer, purchase) }, compared)
  if (!mayPayAs(key, payment.agentId)) return { payment, purchase, state: null, mismatches }
  const isFinished = isAnswered(purchase) || known.payment.status === 'failed'
  const work = async (hold: HeldPlace): Promise<PurchaseState> => {
    onWait()
    return await continuePurchase(ctx, { payment: known.payment, request, hold }, bounds)
  }
  const place = { pool: 'purchases', workspaceId: payment.workspaceId } as const
  const state =
    isFinished || !isSamePurchase(mismatches)
      ? known
      : await withRecordedOutcome(withPurchasePlace(ctx, place, work), payment)
  return { payment: state.payment, purchase: state.purchase, state: isKindSame(mismatches) ? state : null, mismatches }
}

/**
 * Returns whether the request is for the operation that made the purchase. Only that operation shows the purchase's
 * state, because `payForResource` returns an answer and `signForResource` returns a header.
 */
function isKindSame(mismatches: readonly PurchaseField[]): boolean {
  return !mismatches.includes('kind')
}

/** Returns the purchase of a payment, for readers of the payment. Null if the payment is no purchase. */
export async function findPurchaseOf(ctx: Pick<Context, 'db'>, payment: Payment): Promise<SealedPurchase | null> {
  return payment.kind === 'x402' ? await ctx.db.read(findPurchase(placeOf(payment))) : null
}

/**
 * Returns the purchases that belong to these payments, by the ids of the payments. Leaves out payments of other kinds.
 */
export async function findPurchasesOf(
  ctx: Pick<Context, 'db'>,
  workspaceId: string,
  payments: readonly Payment[],
): Promise<ReadonlyMap<string, Purchase>> {
  const ids = payments.filter(({ kind }) => kind === 'x402').map(({ id }) => id)
  const found = ids.length === 0 ? [] : await ctx.db.read(listPurchasesOf(workspaceId, ids))
  return new Map(found.map((purchase) => [purchase.paymentId, purchase]))
}
