import { ChainUnavailable } from '../../chain/errors.ts'
import { usdcDomain, type SignatureForm, type TransferAuthorization } from '../../values/transfer-authorization.ts'
import { microUsdc } from '../../values/money.ts'
import { paymentCallFailed } from '../../values/problem.ts'
import { writePaymentHeader } from '../../x402/write-payment-header.ts'
import type { Context } from '../context.ts'
import { referenceId } from '../payments/derived-ids.ts'
import { failPayment } from '../payments/fail-payment.ts'
import { ATTEMPT_MS, type Payment, type PurchasePayment, nameInLog } from '../payments/payment.ts'
import type { SigningParties } from '../payments/signing-store.ts'
import { slotSealContext } from '../wallets/slot-seal-context.ts'
import { openHeader, sealHeader, type PaymentHeader, type PurchaseOrder } from './seal-purchase.ts'
import { storeHeader, type PurchasePlace } from './purchases-store.ts'

export type Signing =
  | { readonly kind: 'signed'; readonly header: PaymentHeader }
  /** The enclave refused, no signature exists, and the payment has failed. */
  | { readonly kind: 'refused'; readonly payment: Payment }

interface Unsigned {
  readonly payment: PurchasePayment
  readonly order: PurchaseOrder
  readonly signing: SigningParties
  /** Whether the enclave may have been asked before. If so, a signature may exist even if the enclave refuses now. */
  readonly wasAsked: boolean
}

/**
 * Asks the enclave to sign the authorization of a purchase, checks the signature, and stores the payment header. For
 * one purchase, the enclave is always asked for the same authorization (D66), so asking again is safe. If another
 * process has stored a header meanwhile, returns that header.
 *
 * If the enclave refuses and was never asked before, the payment fails at once. After every other failure, the amount
 * stays reserved, and this function throws 500 `privy_call_failed`: the caller may retry with the same idempotency key.
 */
export async function signHeader(ctx: Context, { payment, order, signing, wasAsked }: Unsigned): Promise<Signing> {
  const place = placeOf(payment)
  const chain = ctx.chains[payment.mode]
  const authorization = toAuthorization(payment, order)
  const domain = usdcDomain(chain.chainId, chain.usdc)
  const form = (await unlessDown(payment, chain.readCode(payment.walletAddress))) === '0x' ? 'ecdsa' : 'erc1271'
  const answer = await ctx.enclave.signAuthorization({
    enclaveWalletId: signing.enclaveWalletId,
    signerPrivateKey: ctx.sealer.open(signing.signerKey.sealed, slotSealContext(payment, signing.signerKey.slot)),
    domain,
    authorization,
    form,
    attemptKey: signingKey(payment, order, form),
    expiresAt: ctx.enclave.toEnclaveTime(new Date(ctx.clock.now().getTime() + ATTEMPT_MS)),
  })
  switch (answer.kind) {
    case 'refused': {
      const { status, code } = answer
      ctx.logger.warn({ ...nameInLog(payment), status, code }, 'the enclave refused to sign a purchase')
      if (wasAsked) throw paymentCallFailed(payment)
      return { kind: 'refused', payment: await failPayment(ctx, { payment, code: 'enclave_refused' }) }
    }
    case 'not_signed': {
      const { status, code, reason } = answer
      ctx.logger.error({ ...nameInLog(payment), status, code, reason }, 'the enclave provider did not sign a purchase')
      throw paymentCallFailed(payment)
    }
    case 'unknown':
      throw paymentCallFailed(payment, answer.error)
    case 'signed':
      break
  }
  const { signature } = answer
  if (!(await unlessDown(payment, chain.isValidAuthorization({ domain, authorization, signature, form })))) {
    ctx.logger.error(
      { ...nameInLog(payment), form },
      'the enclave returned a signature that the chain would not accept',
    )
    throw paymentCallFailed(payment)
  }
  const { chainId } = chain
  const header = writePaymentHeader(order.offer, { authorization, signature, chainId, paymentId: payment.id })
  const stored = await ctx.db.write(storeHeader(place, sealHeader(ctx.sealer, place, header)))
  const kept = stored === null ? null : openHeader(ctx.sealer, stored)
  if (kept === null) throw new Error('the header of a purchase was not stored')
  return { kind: 'signed', header: kept }
}

/**
 * Returns the idempotency key of the request to sign. Where the seller chose the nonce (MPP), it is derived from the
 * caller's idempotency key. So the enclave refuses to sign another challenge for the same purchase, even if a restored
 * database has forgotten the first one (D96). Where we derived the nonce, the chain accepts only one signature, and
 * a purchase that was forgotten may be signed again with a later end.
 */
function signingKey(payment: Payment, { offer }: PurchaseOrder, form: SignatureForm): string {
  const id = offer.terms === null ? payment.id : referenceId(payment)
  return `${payment.workspaceId}:${payment.mode}:${id}:${form}`
}

/** Returns the authorization of a purchase, exactly as it was reserved (D66). */
function toAuthorization(payment: PurchasePayment, order: PurchaseOrder): TransferAuthorization {
  const { nonce, validBefore } = payment.authorization
  return {
    from: payment.walletAddress,
    to: payment.to,
    valueMicro: microUsdc(payment.amountMicro),
    validAfterSeconds: order.validAfterSeconds,
    validBeforeSeconds: BigInt(Math.floor(validBefore.getTime() / 1_000)),
    nonce,
  }
}

export function placeOf({ workspaceId, id }: Pick<Payment, 'workspaceId' | 'id'>): PurchasePlace {
  return { workspaceId, paymentId: id }
}

/**
 * Awaits a read of the chain. If the chain is unavailable, throws 500 `privy_call_failed`. The usual 503 would say that
 * nothing was recorded, but here the amount is already reserved.
 */
async function unlessDown<Result>(payment: Payment, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw error instanceof ChainUnavailable ? paymentCallFailed(payment, error) : error
  }
}
