import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import { SCAN_ROWS_MAX, toPage, type Page } from '../../../db/bounded-scan.ts'
import type { PaymentRefusal } from './refusal.ts'
import { listRefusalRows } from './refusals-store.ts'

/** Above every id of a refusal: ids begin with their time, whose first digit stays low for thousands of years. */
const NEWEST = 'ref_Z'

/**
 * What was refused in (account, mode), to one agent where one is named, the newest first, `limit` at the most, before
 * the refusal `before` where one is given. At most `SCAN_ROWS_MAX` are looked at: `next` then goes on behind the last.
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
