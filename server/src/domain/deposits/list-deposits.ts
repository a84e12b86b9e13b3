import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { Deposit } from './deposit.ts'
import { listDepositRows } from './deposits-store.ts'

/**
 * Lists deposits of a workspace and mode, newest first, and at most `limit` of them. Lists the deposits of one wallet,
 * or of all wallets if `wallet` is null. With `before`, lists only deposits older than the one with this id.
 */
export async function listDeposits(
  ctx: Pick<Context, 'db'>,
  request: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly wallet: Address | null
    readonly before: string | null
    readonly limit: number
  },
): Promise<Deposit[]> {
  return await ctx.db.readSlow(listDepositRows(request), request.workspaceId)
}
