import { violatesUnique } from '../../../db/errors.ts'
import type { Context } from '../../context.ts'
import { endPayment, type EndContext } from '../end-payment.ts'
import { failPayment } from '../fail-payment.ts'
import { getPayment } from '../get-payment.ts'
import { nameInLog, type Payment, type TxHash } from '../payment.ts'
import { TRANSFER_LOG_INDEX } from '../payments-store.ts'
import { markAuthorizationConfirmed, markAuthorizationMined, noteTransferNotFound } from '../authorizations-store.ts'
import { decideAuthorization, type AuthorizationEvidence, type AuthorizationOutcome } from './decide-authorization.ts'

export type SettleContext = EndContext & Pick<Context, 'chains' | 'logger'>

type Confirmed = Extract<AuthorizationOutcome, { kind: 'confirmed' }>

/**
 * Updates a pending purchase with what the chain proves about its authorization (D66). The purchase ends exactly once,
 * in the same transaction as its event, even if several processes read the chain. As long as the block in which the
 * authorization was used has too few confirmations, only the block is recorded. The record is removed if a
 * reorganization drops the block.
 */
export async function settleAuthorization(
  ctx: SettleContext,
  { payment, evidence }: { payment: Payment; evidence: AuthorizationEvidence },
): Promise<Payment> {
  const { walletAddress: from, to, amountMicro, authorization } = payment
  if (authorization === null || payment.status !== 'pending') return payment
  const { usdc: contract, confirmations } = ctx.chains[payment.mode]
  const expected = { contract, from, to, amountMicro, authorizer: from, nonce: authorization.nonce }
  const outcome = decideAuthorization({ ...evidence, confirmations, expected })
  switch (outcome.kind) {
    case 'waiting':
      return await recordBlock(ctx, payment, null)
    case 'mined':
      return await recordBlock(ctx, payment, outcome.block)
    case 'failed':
      return await failPayment(ctx, { payment, code: outcome.code })
    case 'transfer_not_found':
      return await recordNotFound(ctx, payment, outcome.txHash)
    case 'confirmed':
      return await confirm(ctx, payment, outcome)
  }
}

async function recordBlock(
  ctx: SettleContext,
  payment: Payment,
  block: { number: bigint; hash: string } | null,
): Promise<Payment> {
  if (payment.minedBlockHash === (block?.hash ?? null)) return payment
  return (await ctx.db.write(markAuthorizationMined(payment, block))) ?? (await getPayment(ctx, payment))
}

async function confirm(ctx: SettleContext, payment: Payment, use: Confirmed): Promise<Payment> {
  try {
    return await endPayment(ctx, payment, (now) => markAuthorizationConfirmed(payment, use, now))
  } catch (error) {
    // Another payment has this Transfer log already, so the log cannot prove this purchase too.
    if (!violatesUnique(error, TRANSFER_LOG_INDEX)) throw error
    return await recordNotFound(ctx, payment, use.txHash)
  }
}

async function recordNotFound(ctx: SettleContext, payment: Payment, txHash: TxHash): Promise<Payment> {
  if (payment.pendingReason === 'transfer_not_found') return payment
  ctx.logger.error(
    { ...nameInLog(payment), tx: txHash },
    'the authorization of a purchase was used, but the transaction does not contain its transfer',
  )
  return (await ctx.db.write(noteTransferNotFound(payment))) ?? (await getPayment(ctx, payment))
}
