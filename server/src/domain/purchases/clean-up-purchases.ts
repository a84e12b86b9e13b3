import type { Context } from '../context.ts'
import { deleteKeptAnswers } from './purchases-store.ts'

/** How long a seller's response is kept (D68). */
export const ANSWER_RETENTION_MS = 24 * 60 * 60 * 1_000
/** Each answer may have more than 1 MiB, so one round deletes few. */
const ANSWERS_PER_ROUND = 200

/** Deletes the sellers' answers that are no longer kept. Processes a limited number of rows, and returns how many. */
export async function cleanUpPurchases({ db, clock }: Pick<Context, 'db' | 'clock'>): Promise<number> {
  const before = new Date(clock.now().getTime() - ANSWER_RETENTION_MS)
  return await db.runDurable(deleteKeptAnswers(before, ANSWERS_PER_ROUND))
}
