/** The first look after an attempt whose outcome is not known. */
const FIRST_LOOK_MS = 2_000
/** The request that sent it polls for its hash that long (`HASH_WAIT_MS`), and a second more. */
const HASH_WAITED_MS = 6_000
/** What is on its way, with its hash, is the watcher's; if it is not mined soon, it is looked up. */
const MINED_SOON_MS = 30_000
const LOOK_GROWTH = 2
/** A payment that stays pending is looked up so often at least. */
const LOOK_INTERVAL_MS_MAX = 10 * 60_000

/** When a payment is looked up next, after `looks` looks that changed nothing. */
export function nextLookAt(looks: number, now: Date): Date {
  const delayMs = Math.min(FIRST_LOOK_MS * LOOK_GROWTH ** Math.min(looks, 16), LOOK_INTERVAL_MS_MAX)
  return new Date(now.getTime() + delayMs)
}

/** When a payment is looked up that was just accepted, without a hash. */
export function lookAfterAcceptance(now: Date): Date {
  return new Date(now.getTime() + HASH_WAITED_MS)
}

/** When a payment is looked up whose hash was just learned. */
export function lookAfterHash(now: Date): Date {
  return new Date(now.getTime() + MINED_SOON_MS)
}
