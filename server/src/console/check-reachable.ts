import { setTimeout as delay } from 'node:timers/promises'

/** Every open page requests the result, but at most one check is made in this time. */
const CHECK_GAP_MS = 5_000
/** How long a caller waits for a check. A check that takes longer continues, and a later caller gets its result. */
const WAIT_MS_MAX = 2_000

/**
 * Makes a function that tells whether a part of the service can be reached. `check` resolves if the part can be
 * reached, and has a time limit of its own. However many callers there are, a check runs at most once at a time and
 * once in `CHECK_GAP_MS`; the other callers get the last result. One lost request is no outage, so a failed check is
 * repeated. Before the first result, the part counts as reachable.
 */
export function createReachabilityCheck(
  check: () => Promise<unknown>,
  { gapMs = CHECK_GAP_MS, waitMsMax = WAIT_MS_MAX }: { gapMs?: number; waitMsMax?: number } = {},
): () => Promise<boolean> {
  let isReachable = true
  let latest: Promise<void> | null = null

  async function run(): Promise<void> {
    isReachable = await check()
      .catch(check)
      .then(
        () => true,
        () => false,
      )
    setTimeout(() => {
      latest = null
    }, gapMs).unref()
  }

  return async () => {
    latest ??= run()
    await Promise.race([latest, delay(waitMsMax, undefined, { ref: false })])
    return isReachable
  }
}
