import { FairPlaces } from '../../lib/fair-places.ts'

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
  const places = new FairPlaces({ placesMax: CREATIONS_AT_ONCE_MAX, waitingMax, waitMsMax: null })

  /** Runs `create` as soon as it is its turn. @throws Error if too many requests are waiting. */
  async function run<Result>(create: () => Promise<Result>): Promise<Result> {
    const place = await places.take(null)
    if (place === null) throw new Error('too many requests wait to create resources at the enclave')
    try {
      return await create()
    } finally {
      place.leave()
    }
  }

  return { run }
}
