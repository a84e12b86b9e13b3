import { idBoundary } from '../../../values/ids.ts'
import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import { EVENT_RETENTION_MS } from '../../events/event.ts'
import type { Credential } from './credential.ts'
import { findCredentials } from './find-credentials.ts'
import type { Admission, Payment } from '../../payments/payment.ts'
import { findPurchaseOf } from '../../purchases/find-earlier-purchase.ts'
import type { Purchase } from '../../purchases/purchase.ts'
import { refreshPayment } from '../../reconciliation/refresh-payment.ts'
import { findAdmission, listPaymentEvents, type EventPlace } from './timeline-store.ts'
import type { PaymentEvent } from './timeline.ts'

/**
 * How many deliveries of one event are shown at most, oldest first. Only an event that was replayed many times has more
 * deliveries than this.
 */
const DELIVERIES_OF_EVENT_MAX = 100

export interface PaymentRecord {
  readonly payment: Payment
  /** Null for a withdrawal, and for a payment that was recorded after its money had moved (D96). */
  readonly admission: Admission | null
  /** Null for a withdrawal. */
  readonly credential: Credential | null
  /** What the payment buys. Null if it is no purchase. */
  readonly purchase: Purchase | null
  /** The payment's events, oldest first; a withdrawal has none. Events older than 30 days have been deleted. */
  readonly events: readonly PaymentEvent[]
}

/**
 * Returns everything that is stored about one payment. A pending payment is first refreshed from the chain. Throws 404
 * `not_found`.
 */
export async function getPaymentRecord(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'logger' | 'paymentReads'>,
  { workspaceId, mode, id }: { workspaceId: string; mode: Mode; id: string },
): Promise<PaymentRecord> {
  const payment = await refreshPayment(ctx, { workspaceId, mode, id })
  const [admission, credentials, purchase, events] = await Promise.all([
    ctx.db.read(findAdmission(workspaceId, id)),
    findCredentials(ctx, { workspaceId, requests: [payment] }),
    findPurchaseOf(ctx, payment),
    ctx.db.read(listPaymentEvents(payment, placesOf(payment, ctx.clock.now()), DELIVERIES_OF_EVENT_MAX)),
  ])
  return { payment, admission, credential: credentials.get(payment.credentialId ?? '') ?? null, purchase, events }
}

/**
 * Returns the ranges of ids in which the payment's events must be. The id of an event begins with the time of the
 * change that it reports, to the millisecond (`payment-event.ts`).
 */
function placesOf({ kind, createdAt, settledAt, status }: Payment, now: Date): EventPlace[] {
  if (kind === 'withdrawal') return []
  const changes = [{ type: 'payment.created', at: createdAt }]
  if (settledAt !== null) changes.push({ type: `payment.${status}`, at: settledAt })
  return changes
    .filter(({ at }) => now.getTime() - at.getTime() <= EVENT_RETENTION_MS)
    .map(({ type, at }) => ({
      type,
      from: idBoundary('event', at),
      below: idBoundary('event', new Date(at.getTime() + 1)),
    }))
}
