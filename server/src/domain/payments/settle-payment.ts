import type { Receipt } from '../../chain/receipt.ts'
import { decideSettlement } from '../../chain/settlement.ts'
import type { Context } from '../context.ts'
import { announceEvent } from '../webhooks/announce-event.ts'
import { failPayment } from './fail-payment.ts'
import { getPayment } from './get-payment.ts'
import type { Payment } from './payment.ts'
import { paymentEvent } from './payment-event.ts'
import { markConfirmed, markMined } from './store.ts'

/**
 * Moves a pending payment to what the chain says of it (D28): confirmed or failed at the configured depth, each once
 * and with its event, whoever sees it first; noted while it is not deep enough; waiting again after a reorganization.
 */
export async function settlePayment(
  ctx: Pick<Context, 'db' | 'clock' | 'chains'>,
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
    },
  })
  switch (settlement.kind) {
    case 'waiting':
      return await note(ctx, payment, null)
    case 'mined':
      return await note(ctx, payment, { number: settlement.blockNumber, hash: settlement.blockHash })
    case 'failed':
      return await failPayment(ctx, { payment, code: settlement.reason })
    case 'confirmed':
      return await confirm(ctx, payment, { number: settlement.blockNumber, hash: settlement.blockHash })
  }
}

type Block = { readonly number: bigint; readonly hash: string }

async function note(ctx: Pick<Context, 'db'>, payment: Payment, block: Block | null): Promise<Payment> {
  if (payment.minedBlockHash === (block?.hash ?? null)) return payment
  await ctx.db.write(markMined(payment, block))
  return { ...payment, minedBlock: block?.number ?? null, minedBlockHash: block?.hash ?? null }
}

async function confirm(ctx: Pick<Context, 'db' | 'clock'>, payment: Payment, block: Block): Promise<Payment> {
  const confirmed = await ctx.db.transaction(async (transaction) => {
    const now = ctx.clock.now()
    const moved = await transaction.run(markConfirmed(payment, block, now))
    if (moved === null) return null
    await transaction.commit([...announceEvent(paymentEvent('payment.confirmed', moved, now))])
    return moved
  })
  return confirmed ?? (await getPayment(ctx, payment))
}
