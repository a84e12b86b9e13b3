import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { giveBackSignerChange, takeSignerChange } from '../wallets/store.ts'
import type { Wallet } from '../wallets/wallet.ts'

/** Longer than the enclave calls that it covers may take. */
const SIGNER_CHANGE_LEASE_MS = 60_000

/** Holds the wallet's lease on its signer list while `work` runs; 409 `signer_change_under_way` while another has it. */
export async function withSignerChange<Result>(
  ctx: Context,
  wallet: Wallet,
  work: () => Promise<Result>,
): Promise<Result> {
  const now = ctx.clock.now()
  const until = new Date(now.getTime() + SIGNER_CHANGE_LEASE_MS)
  if (!(await ctx.db.write(takeSignerChange(wallet, now, until)))) throw problem('signer_change_under_way')
  try {
    return await work()
  } finally {
    await ctx.db.write(giveBackSignerChange(wallet, until))
  }
}
