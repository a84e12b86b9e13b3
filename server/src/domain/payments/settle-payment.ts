import type { Receipt } from '../../chain/parse-receipt.ts'
import { decideSettlement, type Settlement } from '../../chain/decide-settlement.ts'
import { violatesUnique } from '../../db/errors.ts'
import type { Context } from '../context.ts'
import { endPayment, type EndContext } from './end-payment.ts'
import { failPayment } from './fail-payment.ts'
import { getPayment } from './get-payment.ts'
import { nameInLog, type Payment } from './payment.ts'
import { markConfirmed, markMined, noteReason, TRANSFER_LOG_INDEX, type MinedBlock } from './payments-store.ts'

type SettleContext = EndContext & Pick<Context, 'chains' | 'logger'>

/**
 * Updates a pending payment with what the chain proves about it (D28). Once the receipt is at the configured depth, the
 * payment becomes `confirmed` or `failed`, exactly once and with its event or audit entry, whichever process reads the
 * receipt first. Before that, only the block is recorded. It is removed again if a reorganization drops the block from
 * the chain.
 */
export async function settlePayment(
  ctx: SettleContext,
  { payment, receipt, head }: { payment: Payment; receipt: Receipt | null; head: bigint },
): Promise<Payment> {
  const chain = ctx.chains[payment.mode]
  const settlement = decideSettlement({
    receipt,
    head,
    confirmations: chain.confirmations,
    expected: {
      contract: chain.usdc,
      from: payment.walletAddress,
      to: payment.to,
      amountMicro: payment.amountMicro,
      operationHash: payment.userOperationHash,
    },
  })
  switch (settlement.kind) {
    case 'waiting':
      return await recordBlock(ctx, payment, null)
    case 'mined':
      return await recordBlock(ctx, payment, { number: settlement.blockNumber, hash: settlement.blockHash })
    case 'failed':
      return await failPayment(ctx, { payment, code: settlement.reason, block: toBlock(settlement) })
    case 'unproven':
      return await recordNotFound(ctx, payment)
    case 'confirmed':
      return await confirm(ctx, payment, { block: toBlock(settlement), logIndexes: settlement.logIndexes })
  }
}

type Block = { readonly number: bigint; readonly hash: string }

function toBlock({ blockNumber, blockHash, gasWei }: Extract<Settlement, { gasWei: bigint | null }>): MinedBlock {
  return { number: blockNumber, hash: blockHash, gasWei }
}

async function recordBlock(ctx: Pick<Context, 'db'>, payment: Payment, block: Block | null): Promise<Payment> {
  if (payment.minedBlockHash === (block?.hash ?? null)) return payment
  await ctx.db.write(markMined(payment, block))
  return { ...payment, minedBlock: block?.number ?? null, minedBlockHash: block?.hash ?? null }
}

/**
 * Confirms the payment by the first Transfer log that settles no other payment. We have to try several logs, because
 * one transaction may contain the transfers of two equal payments (D24c).
 */
async function confirm(
  ctx: SettleContext,
  payment: Payment,
  { block, logIndexes }: { block: MinedBlock; logIndexes: readonly bigint[] },
): Promise<Payment> {
  for (const logIndex of logIndexes) {
    try {
      return await endPayment(ctx, payment, (now) => markConfirmed(payment, { ...block, logIndex }, now))
    } catch (error) {
      if (!violatesUnique(error, TRANSFER_LOG_INDEX)) throw error
    }
  }
  return await recordNotFound(ctx, payment)
}

async function recordNotFound(ctx: SettleContext, payment: Payment): Promise<Payment> {
  if (payment.pendingReason === 'transfer_not_found') return payment
  ctx.logger.error(
    { ...nameInLog(payment), tx: payment.txHash },
    'the transaction that the enclave names does not contain the transfer of this payment',
  )
  return (await ctx.db.write(noteReason(payment, 'transfer_not_found'))) ?? (await getPayment(ctx, payment))
}
