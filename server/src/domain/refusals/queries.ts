import { SCAN_ROWS_MAX, toPage, type Page } from '../../db/bounded-scan.ts'
import { isId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { PaymentRefusal } from './refusal.ts'
import { findRefusal, listRefusalRows } from './refusals-store.ts'

/**
 * A text that sorts after every id of a refusal. In an id, `ref_` is followed by the time of creation, whose first
 * character will be a digit for thousands of years.
 */
const NEWEST = 'ref_Z'

/**
 * Returns one refusal of a workspace and mode. Throws 404 `not_found` if the refusal does not exist. A refusal is
 * deleted after 30 days.
 */
export async function getRefusal(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode, id }: { workspaceId: string; mode: Mode; id: string },
): Promise<PaymentRefusal> {
  const refusal = isId('refusal', id) ? await ctx.db.read(findRefusal(workspaceId, mode, id)) : null
  if (refusal === null) {
    throw new Problem(
      'not_found',
      'There is no rejected request with this id from the last 30 days in this workspace and mode.',
    )
  }
  return refusal
}

/**
 * Lists refusals of a workspace and mode, newest first, and at most `limit` of them. With `before`, lists only refusals
 * older than the one with this id. With `agentId`, lists only refusals of this agent. Reads at most `SCAN_ROWS_MAX`
 * rows. The `next` of the result is where the following page begins, after the last row that was read.
 */
export async function listRefusals(
  ctx: Pick<Context, 'db'>,
  request: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly agentId: string | null
    readonly before: string | null
    readonly limit: number
  },
): Promise<Page<PaymentRefusal>> {
  const { limit, before } = request
  const scan = { ...request, below: before ?? NEWEST, limit: limit + 1, scanRowsMax: SCAN_ROWS_MAX }
  return toPage(await ctx.db.readSlow(listRefusalRows(scan), request.workspaceId), limit)
}
