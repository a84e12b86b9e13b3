import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { saveBalances } from './balances-store.ts'
import { listAddresses } from './wallets-store.ts'

/** How many wallets are read in one call: five batches of the chain's reader. */
const BALANCES_RECORDED_MAX = 500
/** How many balances are requested at once: one batch. */
const READ_AT_ONCE = 100
/** A balance that has not changed is stored again after this time, so that its age says when it was last seen. */
const RENEWED_AFTER_MS = 60_000

/**
 * Reads the balances of the mode's wallets with addresses above `after` from the chain, at most
 * `BALANCES_RECORDED_MAX` of them, and stores them. Returns the address after which the next call continues; null if
 * this call read the last wallet. Throws `ChainUnavailable` if the chain does not respond; the balances that were stored
 * before then keep their time.
 */
export async function recordBalances(
  ctx: Pick<Context, 'db' | 'clock' | 'chains'>,
  { mode, after, signal }: { readonly mode: Mode; readonly after: Address | null; readonly signal: AbortSignal },
): Promise<Address | null> {
  const addresses = await ctx.db.readSlow(listAddresses(mode, after, BALANCES_RECORDED_MAX))
  for (let start = 0; start < addresses.length && !signal.aborted; start += READ_AT_ONCE) {
    const some = addresses.slice(start, start + READ_AT_ONCE)
    const readAt = ctx.clock.now()
    const balances = await Promise.all(
      some.map(async (wallet) => ({ wallet, ...(await ctx.chains[mode].readUsdcBalance(wallet)) })),
    )
    const renewedBefore = new Date(readAt.getTime() - RENEWED_AFTER_MS)
    await ctx.db.write(saveBalances(mode, balances, { readAt, renewedBefore }), { mayBeLost: true, isSlow: true })
  }
  return addresses.length < BALANCES_RECORDED_MAX ? null : (addresses.at(-1) ?? null)
}
