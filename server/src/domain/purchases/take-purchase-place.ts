import type { HeldPlace } from '../../lib/fair-places.ts'
import { Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'

/** The `Retry-After` of a purchase or price check that finds no place. */
const NO_PLACE_RETRY_AFTER_SECONDS = 5

interface WantedPlace {
  readonly pool: 'purchases' | 'priceChecks'
  readonly workspaceId: string
  /** Whether a newcomer may get the place until the work calls `keep` (D91). */
  readonly mayEnd: boolean
}

/**
 * Does work that waits for somebody else's server, if this process has a place for it. Throws 503 if there is none, and
 * if a newcomer got it; nothing was paid then.
 */
export async function withPurchasePlace<Result>(
  { pools }: Pick<Context, 'pools'>,
  { pool, workspaceId, mayEnd }: WantedPlace,
  work: (hold: HeldPlace) => Promise<Result>,
): Promise<Result> {
  return await pools[pool].run(workspaceId, { full, mayEnd }, work)
}

function full(): Problem {
  return new Problem('unavailable', 'Too many purchases are in progress. Nothing was paid. Retry later.', {
    retryAfterSeconds: NO_PLACE_RETRY_AFTER_SECONDS,
  })
}
