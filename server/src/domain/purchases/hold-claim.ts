import type { Context } from '../context.ts'
import { moveClaim, type PurchasePlace } from './purchases-store.ts'

/**
 * How long a claim on a purchase lasts if it is not extended. If the process dies, a retry continues after this time at
 * the latest.
 */
export const CLAIM_MS = 10_000
const EXTEND_INTERVAL_MS = 3_000

/** Returns the end of a claim that begins now. */
export function claimEnd(ctx: Pick<Context, 'clock'>): Date {
  return new Date(ctx.clock.now().getTime() + CLAIM_MS)
}

/**
 * Works on a purchase that this process has claimed until `until`. Extends the claim as long as the work takes, and
 * ends it afterwards. No money depends on the claim, because a purchase has only one authorization and one stored
 * header. The claim keeps two processes from asking the seller at the same time.
 */
export async function holdClaim<Result>(
  ctx: Pick<Context, 'db' | 'clock' | 'logger'>,
  { place, until }: { place: PurchasePlace; until: Date },
  work: () => Promise<Result>,
): Promise<Result> {
  let held = until
  let moving = Promise.resolve()
  const move = async (next: Date | null): Promise<void> => {
    try {
      const isMoved = await ctx.db.write(moveClaim(place, held, next))
      if (isMoved && next !== null) held = next
    } catch (error) {
      ctx.logger.warn({ err: error, payment: place.paymentId }, 'the claim on a purchase could not be moved')
    }
  }
  const timer = setInterval(() => {
    moving = moving.then(async () => move(claimEnd(ctx)))
  }, EXTEND_INTERVAL_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    await moving
    await move(null)
  }
}
