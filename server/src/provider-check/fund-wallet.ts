import { createBoundedFetch } from '../lib/outbound/bounded-fetch.ts'
import type { EgressProxy } from '../lib/outbound/egress-proxy.ts'
import { formatAmount } from '../values/money.ts'
import { AMOUNT_MICRO, type CheckRun, type CheckWallet } from './check-run.ts'
import { SENDS_AT_ONCE } from './check-sends.ts'
import { poll } from './poll.ts'

export interface Funding {
  /** The faucet to ask for test USDC; null if the operator funds the wallet by hand. */
  readonly faucetUrl: string | null
  readonly waitMs: number
}

/** How much USDC the wallet needs. The transfers go from the wallet to itself, so the amount is never used up. */
const ENOUGH_MICRO = AMOUNT_MICRO * BigInt(SENDS_AT_ONCE + 1)
const ASKED_USDC = '0.01'
const FAUCET_MS_MAX = 20_000
const RESPONSE_BYTES_MAX = 16 * 1_024
const POLL_MS = 1_000

/** Prints where to send test USDC, or asks the faucet for it, and waits until the wallet has enough. */
export async function fundWallet(
  { chain, settings, proxy }: CheckRun,
  wallet: CheckWallet,
  { funding, print }: { funding: Funding; print: (text: string) => void },
): Promise<boolean> {
  const { faucetUrl, waitMs } = funding
  if (faucetUrl !== null) {
    await askFaucet(faucetUrl, wallet, proxy)
  } else {
    const least = formatAmount(ENOUGH_MICRO)
    print(
      `Send at least ${least} test USDC (for example ${ASKED_USDC}) on chain ${settings.chainId} to ${wallet.address}.\n`,
    )
    print(`Waiting up to ${Math.ceil(waitMs / MS_PER_MINUTE)} minutes for it.\n`)
  }
  const funded = await poll(
    async () => {
      const balance = await chain.readUsdc(wallet.address).catch(() => 0n)
      return balance >= ENOUGH_MICRO ? balance : null
    },
    { intervalMs: POLL_MS, timeoutMs: waitMs },
  )
  return funded !== null
}

const MS_PER_MINUTE = 60_000

/** Ignores the faucet's response: the chain shows whether the USDC has arrived. */
async function askFaucet(url: string, { address }: CheckWallet, proxy: EgressProxy | null): Promise<void> {
  const { href } = new URL(url)
  const { fetch } = createBoundedFetch(href, { proxy, responseBytesMax: RESPONSE_BYTES_MAX })
  await fetch(href, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ mode: 'test', address, amount_usdc: ASKED_USDC }),
    signal: AbortSignal.timeout(FAUCET_MS_MAX),
  }).catch(() => null)
}
