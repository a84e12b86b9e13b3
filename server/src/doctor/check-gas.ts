import { ChainUnavailable } from '../chain/errors.ts'
import { openChain, type Chain } from '../chain/open-chain.ts'
import type { ChainSettings } from '../config.ts'
import type { Database } from '../db/database.ts'
import type { Logger } from '../lib/logger.ts'
import type { EgressProxy } from '../lib/outbound/egress-proxy.ts'
import type { Address } from '../values/address.ts'
import { formatCoin } from '../values/gas.ts'
import type { Finding } from './finding.ts'
import { findLastConfirmed, listWalletAddresses } from './store.ts'

const WALLETS_MAX = 100
const READS_AT_ONCE_MAX = 10
const WALLETS_NAMED_MAX = 5
const WORKSPACES_MAX = 100

/**
 * Checks that gas can be paid on one chain. If gas is sponsored, looks for a confirmed payment, which is the only
 * evidence: the enclave does not report whether its provider sponsors gas on a chain. If wallets pay their own gas,
 * checks their balances of native coin.
 */
export async function checkGas(
  db: Database,
  settings: ChainSettings,
  deps: { logger: Logger; proxy: EgressProxy | null },
): Promise<readonly Finding[]> {
  return settings.gas === 'sponsored' ? [await checkSponsored(db, settings)] : [await checkCoins(db, settings, deps)]
}

async function checkSponsored(db: Database, { mode, chainId }: ChainSettings): Promise<Finding> {
  const name = `${mode} gas`
  const last = await db.readSlow(findLastConfirmed(mode, WORKSPACES_MAX))
  if (last !== null) {
    return { level: 'ok', name, observed: `sponsored; a payment was confirmed on ${last.toISOString()}` }
  }
  const advice =
    `In the provider's dashboard, turn on gas sponsorship with credits for chain ${chainId}, and TEE execution.` +
    (mode === 'test' ? ' Then run `npm run provider:check`, which proves it.' : '')
  return {
    level: 'warn',
    name,
    observed: 'sponsored, but no payment was confirmed yet, so there is no evidence that it works',
    advice,
  }
}

async function checkCoins(
  db: Database,
  settings: ChainSettings,
  deps: { logger: Logger; proxy: EgressProxy | null },
): Promise<Finding> {
  const name = `${settings.mode} gas`
  const addresses = await db.readSlow(listWalletAddresses(settings.mode, WALLETS_MAX))
  const [first] = addresses
  if (first === undefined)
    return { level: 'ok', name, observed: 'wallets pay for themselves, but there is no wallet yet' }
  const chain = openChain(settings, deps)
  try {
    const { neededWei } = await chain.readGasFunds(first)
    const poor = await findPoor(chain, addresses, neededWei)
    const needed = `a payment needs ${formatCoin(neededWei)} ${chain.coin}`
    const checked = `${addresses.length} ${addresses.length === 1 ? 'wallet' : 'wallets'} checked`
    if (poor.length === 0) {
      return { level: 'ok', name, observed: `wallets pay for themselves, and all of them can (${checked}; ${needed})` }
    }
    const named = poor.slice(0, WALLETS_NAMED_MAX).join(', ')
    const advice = `Send ${chain.coin} to ${named}${poor.length > WALLETS_NAMED_MAX ? ', and the others' : ''}.`
    return { level: 'warn', name, observed: `${poor.length} cannot pay for gas (${checked}; ${needed})`, advice }
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error
    const advice = 'Fix the RPC addresses above first.'
    return { level: 'fail', name, observed: "no node returned the wallets' balances", advice }
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
