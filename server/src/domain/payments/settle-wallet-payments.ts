import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { settlePayments } from './settle-payments.ts'
import { listAwaitingChainOfWallet } from './payments-store.ts'

/** More than a wallet can have in flight between two rounds of the watcher. The watcher settles any others. */
const WALLET_PAYMENTS_MAX = 500

/** Settles a wallet's pending payments by the chain's current state. Throws `ChainUnavailable`. */
export async function settleWalletPayments(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'logger'>,
  { accountId, mode, wallet }: { accountId: string; mode: Mode; wallet: Address },
): Promise<void> {
  const payments = await ctx.db.runRelaxed(listAwaitingChainOfWallet(accountId, mode, wallet, WALLET_PAYMENTS_MAX))
  await settlePayments(ctx, { mode, payments })
}
