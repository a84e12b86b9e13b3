import { createBoundedFetch } from '../lib/outbound/bounded-fetch.ts'
import type { EgressProxy } from '../lib/outbound/egress-proxy.ts'
import { parseJson } from '../lib/parse-json.ts'
import type { Address } from '../values/address.ts'
import { formatAmount, type MicroUsdc } from '../values/money.ts'
import { Problem } from '../values/problem.ts'

/** Long enough for a faucet that waits until a block contains its transfer. */
const FAUCET_TIMEOUT_MS = 15_000
const RESPONSE_BYTES_MAX = 16 * 1_024
const RETRY_AFTER_SECONDS = 30
const TX_HASH_PATTERN = /^0x[0-9a-f]{64}$/

/**
 * Asks the faucet once to send test USDC to an address. Returns the transaction's hash. Throws 503 for any failure.
 * Even then the faucet may have sent the USDC, which does no harm.
 */
export async function askFaucet(
  url: string,
  { address, amountMicro, proxy }: { address: Address; amountMicro: MicroUsdc; proxy: EgressProxy | null },
): Promise<string> {
  const { href } = new URL(url)
  const { fetch, close } = createBoundedFetch(href, { proxy, responseBytesMax: RESPONSE_BYTES_MAX })
  try {
    const response = await fetch(href, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ mode: 'test', address, amount_usdc: formatAmount(amountMicro) }),
      signal: AbortSignal.timeout(FAUCET_TIMEOUT_MS),
    })
    return await readTxHash(response)
  } catch (cause) {
    const message =
      'The faucet did not respond as expected. Try again in a minute, or get test USDC from another faucet.'
    throw new Problem('unavailable', message, { cause, retryAfterSeconds: RETRY_AFTER_SECONDS })
  } finally {
    close()
  }
}

async function readTxHash(response: Response): Promise<string> {
  if (!response.ok) throw new Error(`the faucet responded with HTTP status ${response.status}`)
  const body: unknown = parseJson(await response.text())
  const hash = typeof body === 'object' && body !== null && 'tx_hash' in body ? body.tx_hash : null
  if (typeof hash !== 'string' || !TX_HASH_PATTERN.test(hash))
    throw new Error('the response of the faucet has no tx_hash')
  return hash
}
