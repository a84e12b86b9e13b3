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

/** The places of this process. They are stored for each `db` object; a process has only one such object. */
const places = new WeakMap<Context['db'], FairPlaces>()

/**
 * Does work that waits for somebody else's server, if this process has a place for it. Throws 503 otherwise; then
 * nothing was done.
 */
export async function withPurchasePlace<Result>(
  { db }: Pick<Context, 'db'>,
  accountId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const shared = places.get(db) ?? new FairPlaces({ placesMax: PURCHASES_IN_PROGRESS_MAX, waitingMax: 0, waitMsMax: 0 })
  places.set(db, shared)
  const ticket = shared.enter(accountId, () => undefined)
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
