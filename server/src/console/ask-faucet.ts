import { readBody } from '../lib/read-body.ts'
import type { Address } from '../values/address.ts'
import { formatAmount, type MicroUsdc } from '../values/money.ts'
import { Problem } from '../values/problem.ts'

/** A faucet may wait for the block that its transfer stands in. */
const FAUCET_TIMEOUT_MS = 15_000
const ANSWER_BYTES_MAX = 16 * 1_024
const RETRY_AFTER_SECONDS = 30
const TX_HASH_PATTERN = /^0x[0-9a-f]{64}$/

/**
 * Has the faucet send test USDC to an address, once. Answers the transaction's hash. Whatever goes wrong is 503: it may
 * have been sent all the same, which does no harm.
 */
export async function askFaucet(
  url: string,
  { address, amountMicro }: { address: Address; amountMicro: MicroUsdc },
): Promise<string> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ mode: 'test', address, amount_usdc: formatAmount(amountMicro) }),
      signal: AbortSignal.timeout(FAUCET_TIMEOUT_MS),
      redirect: 'error',
    })
    return await readTxHash(response)
  } catch (cause) {
    const message =
      'The faucet did not answer as it should. Try again in a minute, or send test USDC to the address from elsewhere.'
    throw new Problem('unavailable', message, { cause, retryAfterSeconds: RETRY_AFTER_SECONDS })
  }
}

async function readTxHash(response: Response): Promise<string> {
  const text = (await readBody(response.body, ANSWER_BYTES_MAX)).toString('utf8')
  if (!response.ok) throw new Error(`the faucet answered with HTTP status ${response.status}`)
  const answer: unknown = JSON.parse(text)
  const hash = typeof answer === 'object' && answer !== null && 'tx_hash' in answer ? answer.tx_hash : null
  if (typeof hash !== 'string' || !TX_HASH_PATTERN.test(hash)) throw new Error('the faucet answered with no tx_hash')
  return hash
}
