import type { HeldPlace } from '../../lib/fair-places.ts'
import { Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'

/** The `Retry-After` of a purchase or price check that finds no place. */
const NO_PLACE_RETRY_AFTER_SECONDS = 5

interface WantedPlace {
  readonly pool: 'purchases' | 'priceChecks'
  readonly workspaceId: string
}

/**
 * Does work that waits for somebody else's server, if this process has a place for it. A newcomer may get the place
 * until the work calls `keep` (D91). Throws 503 if there is no place, and if the work failed because a newcomer got it.
 */
export async function withPurchasePlace<Result>(
  { pools }: Pick<Context, 'pools'>,
  { pool, workspaceId }: WantedPlace,
  work: (hold: HeldPlace) => Promise<Result>,
): Promise<Result> {
  return await pools[pool].run(workspaceId, { full, mayEnd: true }, work)
}

function full(): Problem {
  const message = 'Too many purchases are in progress. Nothing was paid now. Retry the same request later.'
  return new Problem('unavailable', message, { retryAfterSeconds: NO_PLACE_RETRY_AFTER_SECONDS })
}
