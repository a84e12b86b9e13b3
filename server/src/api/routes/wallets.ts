import { Type } from 'typebox'
import type { Context } from '../../domain/context.ts'
import { formatWalletBudget } from '../../domain/reports/wallets/format-wallet-budget.ts'
import { getWalletBudget, listWalletBudgets } from '../../domain/reports/wallets/queries.ts'
import { WALLETS_PAGE_DEFAULT, WALLETS_PAGE_MAX } from '../../domain/reports/wallets/wallet-budget.ts'
import { WalletBudgetSchema } from '../../domain/reports/wallets/wallet-budget-schema.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { parseAddress } from '../../values/address.ts'
import { invalidMember } from '../../values/invalid-request.ts'
import { callerOf } from '../caller.ts'
import { createQueryReader } from '../read-query.ts'
import type { Authenticate } from './agents.ts'

const BOUND =
  'A credential that is bound to an agent sees the wallets on which this agent has a signed grant that is not revoked, ' +
  'and on them only the grants of this agent.'

/** Only describes the query of `GET /v1/wallets` in `openapi.json`. `parseWalletsQuery` parses the query. */
const WalletsQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: WALLETS_PAGE_MAX,
      default: WALLETS_PAGE_DEFAULT,
      description: 'Wallets per page.',
    }),
  ),
  starting_after: Type.Optional(
    Type.String({ description: 'The address of the last wallet of the previous page. The page starts after it.' }),
  ),
})

/** Adds the routes that read wallets, with what agents may spend from them (D54). */
export function addWalletRoutes(http: HttpServer, ctx: Context, authenticate: Authenticate): void {
  http.addSchema(WalletBudgetSchema)
  const onRequest = authenticate({ bucket: 'default' })

  http.get(
    '/v1/wallets',
    {
      onRequest,
      validatorCompiler: () => () => true,
      schema: {
        operationId: 'listWallets',
        summary: 'List wallets',
        description: `Returns the wallets of this workspace and mode, in the order of their addresses, each with its balance and with what agents may spend from it. ${BOUND}`,
        tags: ['Wallets'],
        querystring: WalletsQuery,
        response: {
          200: Type.Object(
            {
              wallets: Type.Array(Type.Ref('Wallet')),
              has_more: Type.Boolean({ description: 'Whether there are wallets after the last one of this page.' }),
            },
            { description: 'A page of wallets.' },
          ),
        },
      },
    },
    async (request) => {
      const { workspaceId, mode, agentId: boundAgentId } = callerOf(request)
      const page = await listWalletBudgets(ctx, {
        workspaceId,
        mode,
        boundAgentId,
        ...parseWalletsQuery(request.query),
      })
      return { wallets: page.wallets.map(formatWalletBudget), has_more: page.hasMore }
    },
  )

  http.get(
    '/v1/wallets/:address',
    {
      onRequest,
      schema: {
        operationId: 'getWallet',
        summary: 'Retrieve one wallet',
        description: `Returns a wallet with its balance and with what agents may spend from it. ${BOUND}`,
        tags: ['Wallets'],
        params: Type.Object({ address: Type.String({ description: 'The EVM address of the wallet.' }) }),
        response: {
          200: Type.Object({ wallet: Type.Ref('Wallet') }, { description: 'The wallet with its current limits.' }),
        },
        errors: ['address_invalid', 'wallet_not_found'],
      },
    },
    async (request) => {
      const { workspaceId, mode, agentId: boundAgentId } = callerOf(request)
      const address = parseAddress(request.params.address)
      if (address === null) throw invalidMember('address', 'must be an EVM address', 'address_invalid')
      return { wallet: formatWalletBudget(await getWalletBudget(ctx, { workspaceId, mode, boundAgentId, address })) }
    },
  )
}

/** Parses the query of `GET /v1/wallets`. Throws a 400 that lists every invalid or unknown parameter. */
function parseWalletsQuery(query: unknown) {
  const { read, readLimit, checkAll } = createQueryReader(query)
  const parsed = {
    startingAfter: read('starting_after', parseAddress, 'must be the EVM address of a wallet'),
    limit: readLimit('limit', { max: WALLETS_PAGE_MAX, byDefault: WALLETS_PAGE_DEFAULT }),
  }
  checkAll()
  return parsed
}
