import { idBoundary, timeOfId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { listSumProgress, sumHour } from './hourly-sums-store.ts'

const HOUR_MS = 60 * 60 * 1_000
/**
 * How long after its end an hour is summed. It is much longer than the time between the creation of a payment's id and
 * its insertion, which is five minutes at most: an owner has this time to sign a withdrawal. Otherwise a payment could
 * be inserted into an hour that is already summed.
 */
const SUMMED_AFTER_MS = HOUR_MS
/** Sums are kept for the longest range of an overview, which is 30 days, and a day longer. */
const SUMS_KEPT_MS = 31 * 24 * HOUR_MS
/** After this many workspaces in a row that could not be summed, we assume that the database is down. */
const FAILURES_IN_A_ROW_MAX = 3

export interface SummedPage {
  /** The workspace at which the next page begins, or null if this was the last page. */
  readonly next: string | null
  /** What went wrong. Each error concerns one workspace. The other workspaces of the page were summed. */
  readonly errors: readonly unknown[]
}

/**
 * Sums the ended hours of the workspaces with an id above `after`, at most `limit` of them. An hour with a pending
 * payment is not summed yet, nor are the later ones. So no sum ever changes, and until there is a sum, the overview
 * reads the payments themselves. If a power failure loses sums, the next call makes them again. Throws the last error
 * if several workspaces in a row cannot be summed.
 */
export async function recordHourlySums(
  ctx: Pick<Context, 'db' | 'clock'>,
  { mode, after, limit, signal }: { mode: Mode; after: string; limit: number; signal: AbortSignal },
): Promise<SummedPage> {
  const now = ctx.clock.now().getTime()
  const keptSince = startOfHour(now - SUMS_KEPT_MS)
  const until = startOfHour(now - SUMMED_AFTER_MS)
  const [from, below] = [idBoundary('payment', keptSince), idBoundary('payment', until)]
  const page = await ctx.db.runSlow(listSumProgress({ mode, after, limit, from, below }))
  const errors: unknown[] = []
  let failuresInARow = 0
  for (const { accountId, firstUnsummedId } of page) {
    if (signal.aborted) return { next: null, errors }
    if (firstUnsummedId === null) continue
    try {
      await sumHoursOf(ctx, { mode, accountId, firstUnsummedId, keptSince, until, signal })
      failuresInARow = 0
    } catch (error) {
      errors.push(error)
      failuresInARow += 1
      if (failuresInARow >= FAILURES_IN_A_ROW_MAX) throw error
    }
  }
  return { next: page.length < limit ? null : (page.at(-1)?.accountId ?? null), errors }
}

/**
 * Sums the hours of one workspace, from its first payment without a sum, until it reaches an hour with a pending
 * payment.
 */
async function sumHoursOf(
  ctx: Pick<Context, 'db'>,
  {
    mode,
    accountId,
    firstUnsummedId,
    keptSince,
    until,
    signal,
  }: {
    mode: Mode
    accountId: string
    firstUnsummedId: string
    keptSince: Date
    until: Date
    signal: AbortSignal
  },
): Promise<void> {
  let next: string | null = firstUnsummedId
  while (next !== null && !signal.aborted) {
    const hour = startOfHour(timeOfId('payment', next).getTime())
    if (hour >= until) return
    const from = idBoundary('payment', hour)
    const below = idBoundary('payment', new Date(hour.getTime() + HOUR_MS))
    const { isSummed, nextId } = await ctx.db.runSlow(sumHour({ accountId, mode, hour, from, below, keptSince }))
    next = isSummed ? nextId : null
  }
}

function startOfHour(ms: number): Date {
  return new Date(Math.floor(ms / HOUR_MS) * HOUR_MS)
}
