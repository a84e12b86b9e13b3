import { idBoundary } from '../../../values/ids.ts'
import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import { EVENT_RETENTION_MS } from '../../events/event.ts'
import type { Credential } from './credential.ts'
import { findCredentials } from './find-credentials.ts'
import type { Admission, Payment } from '../../payments/payment.ts'
import { NO_NOTE, type PaymentNote } from '../../payment-notes/payment-note.ts'
import { findPaymentNote } from '../../payment-notes/payment-notes-store.ts'
import { findPurchaseOf } from '../../purchases/find-earlier-purchase.ts'
import type { Resolution } from '../../purchases/resolution.ts'
import { findResolution } from '../../purchases/resolutions-store.ts'
import type { Purchase } from '../../purchases/purchase.ts'
import { refreshPayment } from '../../reconciliation/refresh-payment.ts'
import { listAudit } from '../../audit/list-audit.ts'
import type { KnownPerson } from '../../members/member.ts'
import { listKnownPeople } from '../../members/queries.ts'
import { findWalletPasskey } from '../../wallets/wallet-passkeys-store.ts'
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
  /** The owner who signed a withdrawal. Null for other payments. */
  readonly signer: KnownPerson | null
  /** Who dealt with a purchase that was paid and not delivered. Null if nobody did. */
  readonly resolution: (Resolution & { readonly resolvedByName: string | null }) | null
  /** What the payment buys. Null if it is no purchase. */
  readonly purchase: Purchase | null
  /** What people wrote about the payment. */
  readonly note: PaymentNote
  /** The payment's events, oldest first; a withdrawal has none. Events older than 30 days have been deleted. */
  readonly events: readonly PaymentEvent[]
}

/**
 * Returns everything that is stored about one payment. A pending payment is first refreshed from the chain. Throws 404
 * `not_found`.
 */
export async function getPaymentRecord(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'logger' | 'measurements' | 'paymentReads'>,
  { workspaceId, mode, id }: { workspaceId: string; mode: Mode; id: string },
): Promise<PaymentRecord> {
  const payment = await refreshPayment(ctx, { workspaceId, mode, id })
  const [admission, credentials, signer, resolution, purchase, note, events] = await Promise.all([
    ctx.db.read(findAdmission(workspaceId, id)),
    findCredentials(ctx, { workspaceId, requests: [payment] }),
    findSigner(ctx, payment),
    findNamedResolution(ctx, payment),
    findPurchaseOf(ctx, payment),
    ctx.db.read(findPaymentNote(workspaceId, id)),
    ctx.db.read(listPaymentEvents(payment, placesOf(payment, ctx.clock.now()), DELIVERIES_OF_EVENT_MAX)),
  ])
  const credential = credentials.get(payment.credentialId ?? '') ?? null
  return { payment, admission, credential, signer, resolution, purchase, note: note ?? NO_NOTE, events }
}

async function findNamedResolution(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode, id: paymentId, kind }: Payment,
): Promise<PaymentRecord['resolution']> {
  const found = kind === 'x402' ? await ctx.db.read(findResolution({ workspaceId, mode, paymentId })) : null
  if (found === null) return null
  const [person] = await listKnownPeople(ctx, { workspaceId, userIds: [found.resolvedBy] })
  return { ...found, resolvedByName: person?.name ?? null }
}

/** How many withdrawals of one workspace are looked through that were submitted in one millisecond. */
const SUBMITTED_AT_ONCE_MAX = 20

/**
 * Finds who signed a withdrawal: the person whose wallet passkey it was. The audit log names the passkey, in an entry of
 * the millisecond in which the payment was created, because one transaction wrote both. Null if the passkey was deleted.
 */
async function findSigner(ctx: Pick<Context, 'db'>, payment: Payment): Promise<KnownPerson | null> {
  const { workspaceId, id, kind, createdAt: from } = payment
  if (kind !== 'withdrawal') return null
  const to = new Date(from.getTime() + 1)
  const filter = { actions: ['withdrawal.submitted'], from, to } as const
  const { items } = await listAudit(ctx, { workspaceId, filter, before: null, limit: SUBMITTED_AT_ONCE_MAX })
  const credentialId = items.find(({ subject }) => subject === id)?.details['credential_id']
  const passkey = typeof credentialId === 'string' ? await ctx.db.read(findWalletPasskey(credentialId)) : null
  if (passkey === null) return null
  const [person] = await listKnownPeople(ctx, { workspaceId, userIds: [passkey.userId] })
  return person ?? null
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
