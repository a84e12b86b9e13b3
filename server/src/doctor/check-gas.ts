import { ChainUnavailable } from '../chain/errors.ts'
import { openChain, type Chain } from '../chain/open-chain.ts'
import type { ChainSettings } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Logger } from '../lib/logger.ts'
import type { Address } from '../values/address.ts'
import { formatCoin } from '../values/gas.ts'
import type { Finding } from './finding.ts'
import { findLastConfirmed, listWalletAddresses } from './store.ts'

const WALLETS_MAX = 100
const READS_AT_ONCE_MAX = 10
const WALLETS_NAMED_MAX = 5
const WORKSPACES_MAX = 100

/**
 * Gas of one chain. The provider does not tell whether it sponsors a chain, so a payment that was confirmed is the only
 * sign of it. Where wallets pay for themselves, their coins are counted.
 */
export async function checkGas(
  db: Database,
  settings: ChainSettings,
  { logger }: { logger: Logger },
): Promise<readonly Finding[]> {
  return settings.gas === 'sponsored' ? [await checkSponsored(db, settings)] : [await checkCoins(db, settings, logger)]
}

async function checkSponsored(db: Database, { mode, chainId }: ChainSettings): Promise<Finding> {
  const name = `${mode} gas`
  const last = await db.runSlow(findLastConfirmed(mode, WORKSPACES_MAX))
  if (last !== null) {
    return { level: 'ok', name, seen: `sponsored; a payment was confirmed on ${last.toISOString()}` }
  }
  const todo =
    `In the provider's dashboard switch on gas sponsorship for chain ${chainId}, with credits, and TEE execution.` +
    (mode === 'test' ? ' `npm run provider:check` proves it.' : '')
  return { level: 'warn', name, seen: 'sponsored, and no payment was confirmed yet: it cannot be seen to work', todo }
}

async function checkCoins(db: Database, settings: ChainSettings, logger: Logger): Promise<Finding> {
  const name = `${settings.mode} gas`
  const addresses = await db.runSlow(listWalletAddresses(settings.mode, WALLETS_MAX))
  const [first] = addresses
  if (first === undefined) return { level: 'ok', name, seen: 'wallets pay for themselves, and there is none yet' }
  const chain = openChain(settings, { logger })
  try {
    const { neededWei } = await chain.readGasFunds(first)
    const poor = await findPoor(chain, addresses, neededWei)
    const needed = `a payment needs ${formatCoin(neededWei)} ${chain.coin}`
    const looked = `${addresses.length} ${addresses.length === 1 ? 'wallet' : 'wallets'} looked at`
    if (poor.length === 0) {
      return { level: 'ok', name, seen: `wallets pay for themselves, and all can (${looked}; ${needed})` }
    }
    const named = poor.slice(0, WALLETS_NAMED_MAX).join(', ')
    const todo = `Send ${chain.coin} to ${named}${poor.length > WALLETS_NAMED_MAX ? ', and the others' : ''}.`
    return { level: 'warn', name, seen: `${poor.length} cannot pay for gas (${looked}; ${needed})`, todo }
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error
    const todo = 'Mend the RPC addresses above first.'
    return { level: 'fail', name, seen: 'no node tells what the wallets hold', todo }
  } finally {
    chain.close()
  }
}

async function findPoor(chain: Chain, addresses: readonly Address[], neededWei: bigint): Promise<Address[]> {
  const poor: Address[] = []
  for (let start = 0; start < addresses.length; start += READS_AT_ONCE_MAX) {
    const some = addresses.slice(start, start + READS_AT_ONCE_MAX)
    const balances = await Promise.all(some.map(async (address) => await chain.readCoinBalance(address)))
    poor.push(...some.filter((_, index) => (balances[index] ?? 0n) < neededWei))
  }
  return poor
}
