import { SCAN_ROWS_MAX, toPage, type Page } from '../../db/bounded-scan.ts'
import { idBoundary, isId } from '../../values/ids.ts'
import type { Mode } from '../../values/mode.ts'
import { Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { LARGEST_AMOUNT, parseSearch, SMALLEST_AMOUNT } from '../search/parse-search.ts'
import { resolveSearch } from '../search/resolve-search.ts'
import type { ListedRefusal, PaymentRefusal, RefusalFilter } from './refusal.ts'
import { listRefusalRows } from './refusal-list-store.ts'
import { findRefusal } from './refusals-store.ts'

const OLDEST = 'ref_'

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
 * Lists refusals of a workspace and mode that match a filter, newest first, and at most `limit` of them. With `before`,
 * lists only refusals older than the one with this id. With `isGrouped`, identical refusals are listed once, at the
 * place of the newest one. Reads at most `SCAN_ROWS_MAX` rows, more than are kept.
 */
export async function listRefusals(
  ctx: Pick<Context, 'db'>,
  request: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly filter?: RefusalFilter
    readonly isGrouped?: boolean
    readonly before: string | null
    readonly limit: number
  },
): Promise<Page<ListedRefusal>> {
  const { workspaceId, mode, filter = {}, isGrouped = false, limit, before } = request
  const search = filter.search === undefined ? null : parseSearch(filter.search, 'refusal')
  const parts = await resolveSearch(ctx, { workspaceId, mode, search })
  const only = search?.kind === 'id' ? search.id : null
  const range = search?.kind === 'amount' ? search.range : { minMicro: SMALLEST_AMOUNT, maxMicro: LARGEST_AMOUNT }
  const query = listRefusalRows({
    ...parts,
    workspaceId,
    mode,
    from: highest(filter.from === undefined ? OLDEST : idBoundary('refusal', filter.from), only),
    // No other id sorts between an id and the same id with one more character, so this range has only the one refusal.
    below: lowest(
      filter.to === undefined ? NEWEST : idBoundary('refusal', filter.to),
      only === null ? null : `${only}0`,
    ),
    agentId: filter.agentId ?? null,
    wallet: filter.wallet ?? null,
    recipient: filter.recipient ?? null,
    code: filter.code ?? null,
    minMicro: highest(range.minMicro, filter.minMicro ?? null),
    maxMicro: lowest(range.maxMicro, filter.maxMicro ?? null),
    isGrouped,
    pageBelow: before ?? NEWEST,
    limit: limit + 1,
    scanRowsMax: SCAN_ROWS_MAX,
  })
  return toPage({ rows: await ctx.db.readSlow(query, workspaceId), lastLookedAt: null }, limit)
}

function highest<Value extends string | bigint>(one: Value, other: Value | null): Value {
  return other !== null && other > one ? other : one
}

function lowest<Value extends string | bigint>(one: Value, other: Value | null): Value {
  return other !== null && other < one ? other : one
}
