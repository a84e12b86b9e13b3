import { SCAN_ROWS_MAX, toPage, type Page } from '../../../db/bounded-scan.ts'
import { isId } from '../../../values/ids.ts'
import type { Mode } from '../../../values/mode.ts'
import { Problem } from '../../../values/problem.ts'
import type { Context } from '../../context.ts'
import type { PaymentRefusal } from './refusal.ts'
import { findRefusal, listRefusalRows } from './refusals-store.ts'

/** Sorts above every id of a refusal: ids begin with their time, whose first digit stays low for thousands of years. */
const NEWEST = 'ref_Z'

/** Returns one refusal of an account and mode. Throws 404 `not_found`; refusals are kept for 30 days. */
export async function getRefusal(
  ctx: Pick<Context, 'db'>,
  { accountId, mode, id }: { accountId: string; mode: Mode; id: string },
): Promise<PaymentRefusal> {
  const refusal = isId('refusal', id) ? await ctx.db.runRelaxed(findRefusal(accountId, mode, id)) : null
  if (refusal === null) {
    throw new Problem(
      'not_found',
      'There is no rejected request with this id from the last 30 days in this workspace and mode.',
    )
  }
  return refusal
}

/**
 * Lists refusals of an account and mode, newest first: at most `limit`, those before the refusal `before` if it is given,
 * and only those of one agent if `agentId` is given. Reads at most `SCAN_ROWS_MAX` rows; `next` continues after the last
 * one that was read.
 */
export async function listRefusals(
  ctx: Pick<Context, 'db'>,
  request: {
    readonly accountId: string
    readonly mode: Mode
    readonly agentId: string | null
    readonly before: string | null
    readonly limit: number
  },
): Promise<Page<PaymentRefusal>> {
  const { limit, before } = request
  const scan = { ...request, below: before ?? NEWEST, limit: limit + 1, scanRowsMax: SCAN_ROWS_MAX }
  return toPage(await ctx.db.runSlow(listRefusalRows(scan)), limit)
}
