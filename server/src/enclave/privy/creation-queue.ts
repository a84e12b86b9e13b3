/**
 * At most this many requests that create resources run at the same time. Payments use the same connections to the
 * enclave, and the creation of a single wallet takes a hundred requests.
 */
const CREATIONS_AT_ONCE_MAX = 10
/**
 * How many requests may wait. Any further request fails at once. The creation of a wallet has at most 20 requests open
 * at the same time, so this is enough for a hundred wallets.
 */
const WAITING_MAX = 2_000

/** Limits how many requests of this process create resources at the same time. The others wait for their turn. */
export function createCreationQueue({ waitingMax = WAITING_MAX }: { waitingMax?: number } = {}) {
  let running = 0
  const waiting: (() => void)[] = []

  /** Runs `create` as soon as it is its turn. @throws Error if too many requests are waiting. */
  async function run<Result>(create: () => Promise<Result>): Promise<Result> {
    if (running < CREATIONS_AT_ONCE_MAX) {
      running += 1
    } else {
      if (waiting.length >= waitingMax) throw new Error('too many requests wait to create resources at the enclave')
      // The request that ends next hands over its place, so `running` stays the same.
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push(resolve)
      await promise
    }
    try {
      return await create()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }

  return { run }
}
