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

/** Replays make more; the first ones are shown. */
const DELIVERIES_OF_EVENT_MAX = 100

export interface PaymentRecord {
  readonly payment: Payment
  readonly admission: Admission
  /** Null for payments from before it was kept. */
  readonly credential: Credential | null
  /** Those of the last 30 days, the oldest first. */
  readonly events: readonly PaymentEvent[]
}

/** All that is kept of one payment, refreshed from the chain first as by `refreshPayment`. 404 `not_found`. */
export async function getPaymentRecord(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'logger'>,
  { accountId, mode, id }: { accountId: string; mode: Mode; id: string },
): Promise<PaymentRecord> {
  const payment = await refreshPayment(ctx, { accountId, mode, id })
  const [admission, credentials, events] = await Promise.all([
    ctx.db.runRelaxed(findAdmission(accountId, id)),
    findCredentials(ctx, { accountId, asked: [payment] }),
    ctx.db.runRelaxed(listPaymentEvents(payment, placesOf(payment, ctx.clock.now()), DELIVERIES_OF_EVENT_MAX)),
  ])
  if (admission === null) throw new Error('a payment has no admission')
  return { payment, admission, credential: credentials.get(payment.credentialId ?? '') ?? null, events }
}

/** An event has the time of what it tells, to the millisecond, and an id that begins with it (`payment-event.ts`). */
function placesOf({ createdAt, settledAt, status }: Payment, now: Date): EventPlace[] {
  const told = [{ type: 'payment.created', at: createdAt }]
  if (settledAt !== null) told.push({ type: `payment.${status}`, at: settledAt })
  return told
    .filter(({ at }) => now.getTime() - at.getTime() <= EVENT_RETENTION_MS)
    .map(({ type, at }) => ({
      type,
      from: idBoundary('event', at),
      below: idBoundary('event', new Date(at.getTime() + 1)),
    }))
}
