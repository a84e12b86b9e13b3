import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import type { Deposit } from './deposit.ts'
import { listDepositRows } from './deposits-store.ts'

/**
 * Deposits of an (account, mode), of one wallet or of all (`wallet` null), newest first, `limit` at the most, before the
 * deposit `before` where one is given.
 */
export async function listDeposits(
  ctx: Pick<Context, 'db'>,
  request: {
    readonly accountId: string
    readonly mode: Mode
    readonly wallet: Address | null
    readonly before: string | null
    readonly limit: number
  },
): Promise<Deposit[]> {
  return await ctx.db.runSlow(listDepositRows(request))
}
