import type { Context } from '../context.ts'
import { finishAttempts, type EndedAttempt } from './finish-attempts.ts'

/** Records the outcome of one attempt, as `finishAttempts` does. */
export async function finishAttempt(ctx: Pick<Context, 'db'>, ended: EndedAttempt): Promise<void> {
  await finishAttempts(ctx, [ended])
}
