import { enforceRateLimit } from '../../domain/enforce-rate-limit.ts'
import { chooseOwner } from '../../domain/wallets/choose-owner.ts'
import { createWallet } from '../../domain/wallets/create-wallet.ts'
import { getWallet, listWallets } from '../../domain/wallets/queries.ts'
import { readBalances } from '../../domain/wallets/read-balances.ts'
import { readCoinBalance } from '../../domain/wallets/read-coin-balance.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { parseAddress, type Address } from '../../values/address.ts'
import { formatAmount, microUsdc } from '../../values/money.ts'
import { checkName } from '../../values/name.ts'
import { problem } from '../../values/problem.ts'
import { askFaucet } from '../ask-faucet.ts'
import type { ConsoleContext } from '../console-context.ts'
import { WALLET_ROUTES } from '../contract/wallets.ts'
import { currentMembership } from '../current-membership.ts'
import { actorOf, getCurrentSession } from '../current-session.ts'
import { formatWallet } from '../format-wallet.ts'
import { mapEnclaveErrors } from '../map-enclave-errors.ts'

const FAUCET_AMOUNT_MICRO = microUsdc(100_000_000n)
/** A list costs one chain request per wallet and is read often, so it may show balances of this age. */
const LISTED_BALANCE_AGE_MS_MAX = 15_000

/** A workspace's wallets. Each is owned by a passkey of the person who created it. */
export function addWalletRoutes(http: HttpServer, consoleContext: ConsoleContext): void {
  const { ctx } = consoleContext

  http.route({
    ...WALLET_ROUTES.list,
    handler: async (request) => {
      const { account, userId } = currentMembership(request)
      const { mode } = request.query
      const wallets = await listWallets(ctx, { accountId: account.id, mode })
      // The newest first: if there are too many to read, people look for the newest.
      const addresses = wallets.map(({ address }) => address).toReversed()
      const balances = await readBalances(ctx, { mode, addresses, ageMsMax: LISTED_BALANCE_AGE_MS_MAX })
      return { wallets: wallets.map((wallet) => formatWallet(wallet, balances, { userId })) }
    },
  })

  http.route({
    ...WALLET_ROUTES.create,
    handler: async (request, reply) => {
      const { account, userId } = currentMembership(request)
      const session = getCurrentSession(request)
      const { mode, credential_id: credentialId = null } = request.body
      const name = checkName(request.body.name)
      const owner = await chooseOwner(ctx, { userId, credentialId })
      const actor = actorOf(request)
      const asked = { accountId: account.id, mode, name, owner, actor }
      const wallet = await mapEnclaveErrors(createWallet(ctx, asked), 'wallet_not_created')
      const balances = await readBalances(ctx, { mode, addresses: [wallet.address] })
      const ownedBy = { userId, userName: session.userName, passkeyName: owner.name }
      return reply.code(201).send({ wallet: formatWallet({ ...wallet, ownedBy, grants: 0 }, balances, { userId }) })
    },
  })

  http.route({
    ...WALLET_ROUTES.get,
    handler: async (request) => {
      const { account, userId } = currentMembership(request)
      const { mode } = request.query
      const address = parseWallet(request.params.address)
      const wallet = await getWallet(ctx, { accountId: account.id, mode, address })
      const [balances, coin] = await Promise.all([
        readBalances(ctx, { mode, addresses: [address] }),
        readCoinBalance(ctx, { mode, address }),
      ])
      return { wallet: formatWallet(wallet, balances, { userId, coin }) }
    },
  })

  http.route({
    ...WALLET_ROUTES.requestTestUsdc,
    handler: async (request, reply) => {
      const { account } = currentMembership(request)
      const { mode } = request.body
      if (mode !== 'test' || consoleContext.faucet?.kind !== 'endpoint') throw problem('faucet_not_available')
      const address = parseWallet(request.params.address)
      await getWallet(ctx, { accountId: account.id, mode, address })
      await enforceRateLimit(ctx, { subject: account.id, bucket: 'faucet' })
      const hash = await askFaucet(consoleContext.faucet.url, { address, amountMicro: FAUCET_AMOUNT_MICRO })
      return reply.code(201).send({ tx_hash: hash, amount_usdc: formatAmount(FAUCET_AMOUNT_MICRO) })
    },
  })
}

function parseWallet(text: string): Address {
  const address = parseAddress(text)
  if (address === null) throw problem('wallet_not_found')
  return address
}
