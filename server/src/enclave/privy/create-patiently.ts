import { setTimeout as delay } from 'node:timers/promises'
import { APIError } from '@privy-io/node'
import { parseRetryAfterMs } from '../../lib/parse-retry-after.ts'

/** The creation of a wallet takes a hundred requests, so a rate limit is to be expected. */
const TRIES_MAX = 5
const TOO_MANY_REQUESTS = 429
/** The first wait if the provider does not say how long to wait. Each further wait is twice as long. */
const FIRST_WAIT_MS = 500
/** A person waits for the wallet. If the provider asks for a longer wait than this, the creation fails. */
const WAIT_MS_MAX = 10_000

/**
 * Runs one request that creates a resource, and repeats it while the provider responds that it receives too many
 * requests. Waits as long as the provider says. If two tries create a resource each, only one of these resources is
 * used. The other one costs nothing.
 */
export async function createPatiently<Result>(create: () => Promise<Result>): Promise<Result> {
  let waitMs = FIRST_WAIT_MS
  for (let tries = 1; ; tries += 1) {
    try {
      return await create()
    } catch (error) {
      if (!(error instanceof APIError) || error.status !== TOO_MANY_REQUESTS || tries === TRIES_MAX) throw error
      const askedMs = error.headers === undefined ? null : parseRetryAfterMs(error.headers)
      if (askedMs !== null && askedMs > WAIT_MS_MAX) throw error
      await delay(askedMs ?? waitMs)
      waitMs *= 2
    }
  }
}
