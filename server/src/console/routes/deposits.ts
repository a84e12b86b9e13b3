import { formatDeposit } from '../../domain/deposits/format-deposit.ts'
import { listDeposits } from '../../domain/deposits/list-deposits.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { isId } from '../../values/ids.ts'
import { membershipOf, type Door } from '../door.ts'
import { invalid, parseAddressOf } from '../parse-body.ts'
import { SlugParams } from '../schemas.ts'
import { DepositsQuery } from '../schemas-workspace.ts'

const PAGE_DEPOSITS = 50

/** What came into a workspace's wallets, the newest first. */
export function addDepositRoute(http: HttpServer, door: Door): void {
  http.get(
    '/console/workspaces/:slug/deposits',
    { schema: { params: SlugParams, querystring: DepositsQuery } },
    async (request) => {
      const { account } = await membershipOf(door, request, 'viewer')
      const { mode, wallet, before = null } = request.query
      if (before !== null && !isId('deposit', before)) throw invalid('before', 'must be the id of a deposit')
      const found = await listDeposits(door.ctx, {
        accountId: account.id,
        mode,
        wallet: wallet === undefined ? null : parseAddressOf('wallet', wallet),
        before,
        limit: PAGE_DEPOSITS + 1,
      })
      const deposits = found.slice(0, PAGE_DEPOSITS)
      return {
        deposits: deposits.map(formatDeposit),
        next: found.length > PAGE_DEPOSITS ? (deposits.at(-1)?.id ?? null) : null,
      }
    },
  )
}
