import { FairPlaces } from '../../lib/fair-places.ts'
import { Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'

/**
 * A process works on at most this many purchases: each takes one place. Each may wait for its seller for minutes, with
 * up to 1 MiB of the answer in memory. Workspaces share the places. A workspace that is alone gets half of them.
 */
const PURCHASES_IN_PROGRESS_MAX = 256
/** The `Retry-After` of a purchase that finds no place. */
const NO_PLACE_RETRY_AFTER_SECONDS = 5

/** Opens the places of a process. */
export function openPurchasePlaces(): FairPlaces {
  return new FairPlaces({ placesMax: PURCHASES_IN_PROGRESS_MAX, waitingMax: 0, waitMsMax: 0 })
}

/**
 * Does work that waits for somebody else's server, if this process has a place for it. Throws 503 otherwise; then
 * nothing was done.
 */
export async function withPurchasePlace<Result>(
  { purchasePlaces }: Pick<Context, 'purchasePlaces'>,
  accountId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const ticket = purchasePlaces.enter(accountId, () => undefined)
  if (ticket.state === 'rejected') {
    throw new Problem('unavailable', 'Too many purchases are in progress. Nothing was paid. Retry later.', {
      retryAfterSeconds: NO_PLACE_RETRY_AFTER_SECONDS,
    })
  }
  try {
    return await work()
  } finally {
    ticket.leave()
  }
}
