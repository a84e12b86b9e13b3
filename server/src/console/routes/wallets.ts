import { enforceRateLimit } from '../../domain/enforce-rate-limit.ts'
import { listOwnersByWallet } from '../../domain/owners/queries.ts'
import { createWallet } from '../../domain/wallets/create-wallet.ts'
import { getWallet, listWallets } from '../../domain/wallets/queries.ts'
import { renameWallet } from '../../domain/wallets/rename-wallet.ts'
import { readBalances } from '../../domain/wallets/read-balances.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { leaveWork } from '../../http/overload-gate.ts'
import { formatAmount, microUsdc } from '../../values/money.ts'
import { problem } from '../../values/problem.ts'
import { askFaucet } from '../ask-faucet.ts'
import type { ConsoleContext } from '../console-context.ts'
import { WALLET_ROUTES } from '../contract/wallets.ts'
import { currentMembership, memberOf } from '../current-membership.ts'
import { actorOf } from '../current-session.ts'
import { formatWallet } from '../format-wallet.ts'
import { mapEnclaveErrors } from '../map-enclave-errors.ts'
import { parseWalletAddress } from '../parse-wallet-address.ts'
import { showWallet } from '../show-wallet.ts'

const FAUCET_AMOUNT_MICRO = microUsdc(100_000_000n)
/** How old a balance in a list may be. A list needs one call to the chain per wallet and is read often. */
const LISTED_BALANCE_AGE_MS_MAX = 15_000

/**
 * Adds the endpoints for a workspace's wallets. The first owner of a wallet is a wallet passkey of the person who
 * created the wallet.
 */
export function addConsoleWalletRoutes(http: HttpServer, consoleContext: ConsoleContext): void {
  const { ctx } = consoleContext

  http.route({
    ...WALLET_ROUTES.list,
    handler: async (request) => {
      const { workspace, userId } = currentMembership(request)
      const { mode } = request.query
      const workspaceId = workspace.id
      const wallets = await listWallets(ctx, { workspaceId, mode })
      // The newest wallets come first, because only a limited number of balances is read, and people look for the
      // newest wallets.
      const addresses = wallets.map(({ address }) => address).toReversed()
      const [owners, balances] = await Promise.all([
        listOwnersByWallet(ctx, { workspaceId, mode, addresses }),
        readBalances(ctx, { mode, addresses, ageMsMax: LISTED_BALANCE_AGE_MS_MAX }),
      ])
      return {
        wallets: wallets.map((wallet) =>
          formatWallet(wallet, balances, { userId, owners: owners.get(wallet.address) ?? [] }),
        ),
      }
    },
  })

  http.route({
    ...WALLET_ROUTES.create,
    handler: async (request, reply) => {
      const { workspace, userId } = currentMembership(request)
      const { mode, name, credential_id: credentialId } = request.body
      const asked = { workspaceId: workspace.id, mode, name, credentialId, actor: actorOf(request) }
      // From here on, the request waits for its turn among all that create wallets.
      leaveWork(request)
      const { address } = await mapEnclaveErrors(createWallet(ctx, asked), 'wallet_not_created')
      return reply
        .code(201)
        .send({ wallet: await showWallet(ctx, { workspaceId: workspace.id, mode, address, userId }) })
    },
  })

  http.route({
    ...WALLET_ROUTES.get,
    handler: async (request) => {
      const { workspace, userId } = currentMembership(request)
      const { mode } = request.query
      const address = parseWalletAddress(request.params.address)
      return { wallet: await showWallet(ctx, { workspaceId: workspace.id, mode, address, userId }) }
    },
  })

  http.route({
    ...WALLET_ROUTES.rename,
    handler: async (request) => {
      const { workspaceId, actor } = memberOf(request)
      const { mode, name } = request.body
      const address = parseWalletAddress(request.params.address)
      await renameWallet(ctx, { workspaceId, mode, address, name, actor })
      return {}
    },
  })

  http.route({
    ...WALLET_ROUTES.requestTestUsdc,
    handler: async (request, reply) => {
      const { workspace } = currentMembership(request)
      const { mode } = request.body
      if (mode !== 'test' || consoleContext.faucet?.kind !== 'endpoint') throw problem('faucet_not_available')
      const address = parseWalletAddress(request.params.address)
      await getWallet(ctx, { workspaceId: workspace.id, mode, address })
      await enforceRateLimit(ctx, { subject: workspace.id, bucket: 'faucet' })
      const hash = await askFaucet(consoleContext.faucet.url, {
        address,
        amountMicro: FAUCET_AMOUNT_MICRO,
        proxy: ctx.outbound.proxy ?? null,
      })
      return reply.code(201).send({ tx_hash: hash, amount_usdc: formatAmount(FAUCET_AMOUNT_MICRO) })
    },
  })
}
