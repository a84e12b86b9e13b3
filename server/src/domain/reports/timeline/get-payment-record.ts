import { idBoundary } from '../../../values/ids.ts'
import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import { EVENT_RETENTION_MS } from '../../events/event.ts'
import type { Credential } from './credential.ts'
import { findCredentials } from './find-credentials.ts'
import type { Admission, Payment } from '../../payments/payment.ts'
import { refreshPayment } from '../../payments/refresh-payment.ts'
import { findAdmission, listPaymentEvents, type EventPlace } from './timeline-store.ts'
import type { PaymentEvent } from './timeline.ts'

/** An event can have more deliveries after replays. The first ones are shown. */
const DELIVERIES_OF_EVENT_MAX = 100

export interface PaymentRecord {
  readonly payment: Payment
  readonly admission: Admission
  /** Null for payments from before this was recorded. */
  readonly credential: Credential | null
  /** The events of the last 30 days, oldest first. */
  readonly events: readonly PaymentEvent[]
}

/** Returns everything that is stored about one payment, after `refreshPayment`. Throws 404 `not_found`. */
export async function getPaymentRecord(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'logger'>,
  { accountId, mode, id }: { accountId: string; mode: Mode; id: string },
): Promise<PaymentRecord> {
  const payment = await refreshPayment(ctx, { accountId, mode, id })
  const [admission, credentials, events] = await Promise.all([
    ctx.db.runRelaxed(findAdmission(accountId, id)),
    findCredentials(ctx, { accountId, requests: [payment] }),
    ctx.db.runRelaxed(listPaymentEvents(payment, placesOf(payment, ctx.clock.now()), DELIVERIES_OF_EVENT_MAX)),
  ])
  if (admission === null) throw new Error('a payment has no admission')
  return { payment, admission, credential: credentials.get(payment.credentialId ?? '') ?? null, events }
}

/** An event has the time of its change, to the millisecond, and an id that begins with that time (`payment-event.ts`). */
function placesOf({ createdAt, settledAt, status }: Payment, now: Date): EventPlace[] {
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
