/**
 * The time between an attempt with an unknown outcome and the first look-up. A look-up asks the enclave and searches
 * the chain.
 */
const FIRST_LOOKUP_MS = 2_000
/**
 * The time between the acceptance of a payment without a hash and the first look-up. The request that sent the payment
 * waits for the hash for `HASH_WAIT_MS`, and the look-up follows one second later.
 */
const HASH_WAITED_MS = 6_000
/**
 * The watcher, the job that reads the chain, follows payments that have a hash. Such a payment is looked up only if it
 * has not been mined after this time.
 */
const MINED_SOON_MS = 30_000
const LOOKUP_GROWTH = 2
/** The longest time between two look-ups of the same payment. */
const LOOKUP_INTERVAL_MS_MAX = 10 * 60_000

/** Returns when to look a payment up again, after `lookups` look-ups that changed nothing. */
export function nextLookupAt(lookups: number, now: Date): Date {
  const delayMs = Math.min(FIRST_LOOKUP_MS * LOOKUP_GROWTH ** Math.min(lookups, 16), LOOKUP_INTERVAL_MS_MAX)
  return new Date(now.getTime() + delayMs)
}

/** Returns when to look up a payment that was accepted a moment ago, without a hash. */
export function lookupAfterAcceptance(now: Date): Date {
  return new Date(now.getTime() + HASH_WAITED_MS)
}

/** Returns when to look up a payment whose hash has just become known. */
export function lookupAfterHash(now: Date): Date {
  return new Date(now.getTime() + MINED_SOON_MS)
}
