import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { settlePayments } from './settle-payments.ts'
import { listAwaitingChainOfWallet } from './payments-store.ts'

/** More than a wallet can have in flight between two rounds of the watcher; the rest is the watcher's. */
const WALLET_PAYMENTS_MAX = 500

/** Brings a wallet's pending payments up to what the chain says now. Throws `ChainUnavailable`. */
export async function settleWallet(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'logger'>,
  { accountId, mode, wallet }: { accountId: string; mode: Mode; wallet: Address },
): Promise<void> {
  const payments = await ctx.db.runRelaxed(listAwaitingChainOfWallet(accountId, mode, wallet, WALLET_PAYMENTS_MAX))
  await settlePayments(ctx, { mode, payments })
}
