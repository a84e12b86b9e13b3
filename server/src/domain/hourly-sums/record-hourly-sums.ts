import { idBoundary, timeOfId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { deleteSumsSince, listSumProgress, sumHour, type SumProgress } from './hourly-sums-store.ts'

const HOUR_MS = 60 * 60 * 1_000
/**
 * How long after its end an hour is summed. It is much longer than the time between the creation of a payment's id and
 * its insertion, which is about five minutes at most: an owner has five minutes to sign a withdrawal. Otherwise a
 * payment could be inserted into an hour that is already summed.
 */
const SUMMED_AFTER_MS = HOUR_MS
/**
 * How long a sum is kept at least. The overview compares the last calendar month with the month before, and at the end of
 * a month these two reach 93 days back. What is older is read from the payments themselves.
 */
export const SUMS_KEPT_MS = 100 * 24 * HOUR_MS
/** Sums are made again if they are lost. */
const SUM_WRITE = { mayBeLost: true, isSlow: true } as const
/** After this many workspaces in a row that could not be summed, the page ends, because the database may be down. */
const FAILURES_IN_A_ROW_MAX = 3

export interface SummedPage {
  /** The next page contains the workspaces with higher ids than this. Null if this was the last page. */
  readonly next: string | null
  /** The workspaces that could not be summed. */
  readonly failures: readonly { readonly workspaceId: string; readonly error: unknown }[]
}

/**
 * Sums the ended hours of the workspaces with an id above `after`, at most `limit` of them. An hour with a pending
 * payment is not summed yet, nor are the later ones. So no sum ever changes, and until there is a sum, the overview
 * reads the payments themselves. If a power failure loses sums, the next call makes them again. If the clock was set
 * back and there are sums of hours that are too recent for one, it deletes them. Throws if the database does not
 * respond.
 */
export async function recordHourlySums(
  ctx: Pick<Context, 'db' | 'clock'>,
  { mode, after, limit, signal }: { mode: Mode; after: string; limit: number; signal: AbortSignal },
): Promise<SummedPage> {
  const now = ctx.clock.now().getTime()
  const until = startOfHour(now - SUMMED_AFTER_MS)
  const from = idBoundary('payment', startOfHour(now - SUMS_KEPT_MS))
  const below = idBoundary('payment', until)
  const page = await ctx.db.readSlow(listSumProgress({ mode, after, limit, from, below }))
  const failures: { workspaceId: string; error: unknown }[] = []
  let failuresInARow = 0
  for (const progress of page) {
    if (signal.aborted) return { next: null, failures }
    if (progress.firstUnsummedId === null && !isAhead(progress, until)) continue
    const { workspaceId } = progress
    try {
      await sumHoursOf(ctx, { mode, progress, until, signal })
      failuresInARow = 0
    } catch (error) {
      failures.push({ workspaceId, error })
      failuresInARow += 1
      if (failuresInARow >= FAILURES_IN_A_ROW_MAX) return { next: workspaceId, failures }
    }
  }
  return { next: page.length < limit ? null : (page.at(-1)?.workspaceId ?? null), failures }
}

/**
 * Sums the hours of one workspace, from its first payment without a sum, until it reaches an hour with a pending
 * payment.
 */
async function sumHoursOf(
  ctx: Pick<Context, 'db'>,
  { mode, progress, until, signal }: { mode: Mode; progress: SumProgress; until: Date; signal: AbortSignal },
): Promise<void> {
  const { workspaceId, firstUnsummedId } = progress
  if (isAhead(progress, until)) {
    await ctx.db.write(deleteSumsSince({ workspaceId, mode, since: until }), SUM_WRITE)
    return
  }
  let next = firstUnsummedId
  while (next !== null && !signal.aborted) {
    const hour = startOfHour(timeOfId('payment', next).getTime())
    if (hour >= until) return
    const from = idBoundary('payment', hour)
    const below = idBoundary('payment', new Date(hour.getTime() + HOUR_MS))
    // The hour's own time decides what is old, so that a clock that is far ahead deletes nothing that is still needed.
    const keptSince = new Date(hour.getTime() - SUMS_KEPT_MS)
    const sum = sumHour({ workspaceId, mode, hour, from, below, keptSince })
    const { isSummed, nextId } = await ctx.db.write(sum, SUM_WRITE)
    next = isSummed ? nextId : null
  }
}

/** Returns whether there is a sum of an hour that, by our clock, did not end at least an hour ago. */
function isAhead({ newestHour }: SumProgress, until: Date): boolean {
  return newestHour !== null && newestHour >= until
}

function startOfHour(ms: number): Date {
  return new Date(Math.floor(ms / HOUR_MS) * HOUR_MS)
}
