import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import { windowStart } from '../../grants/spent-window.ts'
import { heldSince } from '../../payments/pending-store.ts'
import { WALLETS_LISTED_MAX } from '../../wallets/wallet.ts'
import { OVERDUE_AFTER_MS, OVERDUE_COUNTED_MAX } from '../conditions/conditions.ts'
import { ACTIVE_GRANTS_READ_MAX, addUpFunds, type WalletFunds } from './funds.ts'
import { listActiveGrants, listWalletBalances } from './funds-store.ts'

/** The statements that read what the wallets hold, and the limits of the grants on them. */
export function selectFunds({ workspaceId, mode }: { readonly workspaceId: string; readonly mode: Mode }, now: Date) {
  const overdueBefore = new Date(now.getTime() - OVERDUE_AFTER_MS)
  return [
    listWalletBalances(
      { workspaceId, mode },
      { limit: WALLETS_LISTED_MAX, heldSince: heldSince(now), overdueBefore, overdueMax: OVERDUE_COUNTED_MAX },
    ),
    listActiveGrants({ workspaceId, mode }, { windowStart: windowStart(now), limit: ACTIVE_GRANTS_READ_MAX }),
  ] as const
}

/**
 * Returns what each wallet holds, oldest wallet first, and how much of it agents can still spend now. The balances are
 * those that `recordBalances` stored last, without the payments since, so the chain is not called.
 */
export async function getFunds(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode }: { readonly workspaceId: string; readonly mode: Mode },
): Promise<WalletFunds[]> {
  const now = ctx.clock.now()
  const [wallets, grants] = await ctx.db.readSlow(selectFunds({ workspaceId, mode }, now), workspaceId)
  return addUpFunds(wallets, grants, now)
}
