import type { Context } from '../context.ts'
import { deleteKeptAnswers } from './purchases-store.ts'

/** How long a seller's response is kept (D68). */
export const ANSWER_RETENTION_MS = 24 * 60 * 60 * 1_000
/** How many responses one call deletes at most. This is few, because a stored response may have more than 1 MiB. */
const ANSWERS_PER_ROUND = 200

/** Deletes sellers' responses older than `ANSWER_RETENTION_MS`, a limited number of them. Returns how many. */
export async function cleanUpPurchases({ db, clock }: Pick<Context, 'db' | 'clock'>): Promise<number> {
  const before = new Date(clock.now().getTime() - ANSWER_RETENTION_MS)
  return await db.runDurable(deleteKeptAnswers(before, ANSWERS_PER_ROUND))
}
