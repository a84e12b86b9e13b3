import { formatDeposit } from '../../domain/deposits/format-deposit.ts'
import { listDeposits } from '../../domain/deposits/list-deposits.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { WALLET_ROUTES } from '../contract/wallets.ts'
import { currentMembership } from '../current-membership.ts'
import { parseAddressOf, parseBefore } from '../parse-body.ts'

const PAGE_DEPOSITS = 50

/** Adds the endpoint that lists the deposits to a workspace's wallets, the newest first. */
export function addDepositRoute(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...WALLET_ROUTES.listDeposits,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { mode, wallet } = request.query
      const before = parseBefore('deposit', request.query.before)
      const found = await listDeposits(ctx, {
        workspaceId: workspace.id,
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
  })
}
