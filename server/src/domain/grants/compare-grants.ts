import { EnclaveOutOfReach, EnclaveUnavailable } from '../../enclave/errors.ts'
import type { Context } from '../context.ts'
import { listGrantsToCompare, postponeComparison, recordComparison } from './comparisons-store.ts'
import { getSignedTerms } from './get-signed-terms.ts'
import { COMPARISON_INTERVAL_MS } from './grant.ts'

/** When a grant that could not be compared is tried again. */
const RETRY_MS = 10 * 60_000

/**
 * Compares active grants whose time has come with the record of the enclave (D79), at most `limit`, with one call to the
 * enclave each. Logs an error for each grant whose terms differ, and a metric counts these grants. Calls `mayContinue`
 * before each grant after the first.
 *
 * @throws EnclaveUnavailable, EnclaveOutOfReach
 */
export async function compareGrants(
  ctx: Pick<Context, 'db' | 'clock' | 'enclave' | 'chains' | 'logger'>,
  { limit, mayContinue }: { limit: number; mayContinue: () => Promise<boolean> },
): Promise<void> {
  const due = await ctx.db.readSlow(listGrantsToCompare(ctx.clock.now(), limit))
  for (const [index, place] of due.entries()) {
    if (index > 0 && !(await mayContinue())) return
    await compareGrant(ctx, place)
  }
}

async function compareGrant(
  ctx: Parameters<typeof compareGrants>[0],
  place: { readonly workspaceId: string; readonly grantId: string },
): Promise<void> {
  try {
    const { state } = await getSignedTerms(ctx, place)
    const now = ctx.clock.now()
    const nextAt = new Date(now.getTime() + COMPARISON_INTERVAL_MS)
    if (state === 'not_enforced')
      ctx.logger.warn({ grant: place.grantId }, 'the enclave has no rules of an active grant')
    await ctx.db.write(recordComparison(place, { now, isDifferent: state === 'different', nextAt }))
  } catch (error) {
    // The grant goes to the end of the queue, so it cannot keep others from being compared.
    const isActive = await ctx.db.write(postponeComparison(place, new Date(ctx.clock.now().getTime() + RETRY_MS)))
    if (error instanceof EnclaveUnavailable || error instanceof EnclaveOutOfReach) throw error
    // It was revoked or replaced after the grants were listed.
    if (!isActive) return
    ctx.logger.error(
      { err: error, grant: place.grantId },
      'a grant could not be compared with the record of the enclave',
    )
  }
}
