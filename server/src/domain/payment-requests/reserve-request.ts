import { DatabaseUnavailable, violatesUnique } from '../../db/errors.ts'
import type { EnclaveTransfer } from '../../enclave/enclave.ts'
import { settleWalletPayments } from '../payments/settle-wallet-payments.ts'
import type { Context } from '../context.ts'
import type { Payment } from '../payments/payment.ts'
import { findPaymentByKey, IDEMPOTENCY_INDEX } from '../payments/payments-store.ts'
import type { SigningParties } from '../payments/signing-store.ts'
import { compareAgain } from '../unexplained-transfers/compare-ledger.ts'
import type { AdmissionRefusal } from './admission-refusal.ts'
import { findRefusalDetails } from './find-refusal-details.ts'
import type { PaymentRequest } from './payment-request.ts'
import { readPayerFunds } from './read-payer-funds.ts'
import { recoverPayment } from './recover-payment.ts'
import type { Reservation } from './reserve-payments.ts'

export type ReservedRequest =
  | {
      readonly kind: 'reserved'
      readonly payment: Payment
      readonly signing: SigningParties
      /**
       * The enclave had accepted the payment before the database was restored. It must not be sent. Null for every other
       * payment.
       */
      readonly accepted: EnclaveTransfer | null
    }
  /** The payment that already has the idempotency key. */
  | { readonly kind: 'existing'; readonly payment: Payment }
  | { readonly kind: 'refused'; readonly refusal: AdmissionRefusal }

/**
 * Reads what the wallet has, decides on the request and reserves its payment. Three findings lead to another try, each
 * of them once:
 *
 * - The balance is too small. The balance that was read earlier may not include a recent deposit, or our own payments in
 *   recent blocks. So these are settled, and the balance is read again.
 * - The database was restored while this process went on. So the ledger is compared with the chain again.
 * - The payment may have been made before the database was restored from a backup. So it is looked up first (D96).
 *
 * If every other check has passed, throws `ChainUnavailable` if the chain cannot be read, and `EnclaveOutOfReach` if the
 * enclave is out of reach.
 */
export async function reserveRequest(ctx: Context, asked: PaymentRequest): Promise<ReservedRequest> {
  let request = asked
  let accepted: EnclaveTransfer | null = null
  let funds = await readPayerFunds(ctx, request)
  const tried = new Set<string>()
  for (;;) {
    const reservation = await ctx.reservations
      .add(ctx, { request, ...funds })
      .catch((error: unknown) => findRecorded(ctx, request, error))
    const isFirst = !tried.has(reservation.kind)
    tried.add(reservation.kind)
    switch (reservation.kind) {
      case 'reserved':
        return { ...reservation, accepted }
      case 'existing':
        return reservation
      case 'out_of_reach':
        throw reservation.error
      case 'refused':
        if (!isFirst || reservation.refusal.code !== 'insufficient_balance')
          return { kind: 'refused', refusal: await findRefusalDetails(ctx, request, reservation) }
        await settleWalletPayments(ctx, request)
        funds = await readPayerFunds(ctx, request, 0)
        break
      case 'restored':
        if (!isFirst) throw new DatabaseUnavailable('the database was restored')
        await compareAgain(ctx, reservation.missed)
        break
      case 'maybe_paid': {
        const recovery = await recoverPayment(ctx, request)
        if (recovery.kind === 'recovered') return { kind: 'existing', payment: recovery.payment }
        if (recovery.kind === 'no_grant')
          return { kind: 'refused', refusal: { code: 'permission_not_found', details: { reason: 'none' } } }
        if (recovery.kind === 'accepted') accepted = recovery.transfer
        request = { ...request, isLookedUp: true }
      }
    }
  }
}

/**
 * Returns the payment of another request with the same idempotency key, but for another wallet, that was recorded at the
 * same time. Throws the error of this request if that was not its cause.
 */
async function findRecorded(
  { db }: Pick<Context, 'db'>,
  { workspaceId, mode, idempotencyKey }: PaymentRequest,
  error: unknown,
): Promise<Extract<Reservation, { kind: 'existing' }>> {
  if (!violatesUnique(error, IDEMPOTENCY_INDEX)) throw error
  const payment = await db.read(findPaymentByKey(workspaceId, mode, idempotencyKey))
  if (payment === null) throw error
  return { kind: 'existing', payment }
}
