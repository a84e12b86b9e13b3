import type { Context } from '../context.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { settlePayments } from './settle-payments.ts'
import { listAwaitingChainOfWallet } from './pending-store.ts'
import { settleAuthorizations } from './authorizations/settle-authorizations.ts'

/**
 * How many payments are settled at most. A wallet rarely has as many pending payments between two rounds of the
 * watchers, the jobs that read the chain. If there are more, the watchers settle the rest.
 */
const WALLET_PAYMENTS_MAX = 500

/** Settles a wallet's pending payments, of every kind, from new reads of the chain. Throws `ChainUnavailable`. */
export async function settleWalletPayments(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'logger' | 'measurements'>,
  { workspaceId, mode, wallet }: { workspaceId: string; mode: Mode; wallet: Address },
): Promise<void> {
  const payments = await ctx.db.read(listAwaitingChainOfWallet(workspaceId, mode, wallet, WALLET_PAYMENTS_MAX))
  const sent = payments.filter(({ kind }) => kind !== 'x402')
  await Promise.all([settlePayments(ctx, { mode, payments: sent }), settleAuthorizations(ctx, { mode, payments })])
}
