/** How long after an attempt with an unknown outcome the payment is looked up for the first time. */
const FIRST_LOOKUP_MS = 2_000
/** The request that sent the payment polls for its hash for `HASH_WAIT_MS`. The first look-up leaves it one more second. */
const HASH_WAITED_MS = 6_000
/** A payment with a hash belongs to the watcher. It is looked up only if it has not been mined after this time. */
const MINED_SOON_MS = 30_000
const LOOKUP_GROWTH = 2
/** The longest time between two look-ups of a payment that stays pending. */
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
