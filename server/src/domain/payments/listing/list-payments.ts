import { idBoundary } from '../../../values/ids.ts'
import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import type { Payment } from '../payment.ts'
import { SCAN_ROWS_MAX, toPage, type Page } from '../scan/scan.ts'
import { findPaymentByKey } from '../store.ts'
import { parseSearch, type PaymentFilter, type Search } from './payment-filter.ts'
import { listPaymentRows } from './store.ts'

const OLDEST = 'pay_'
/** Above every id of a payment: ids begin with their time, whose first digit stays low for thousands of years. */
const NEWEST = 'pay_Z'

/**
 * The payments of (account, mode) that pass a filter, the newest first, `limit` at the most, before the payment `before`
 * where one is given. At most `scanRowsMax` are looked at: `next` then goes on behind the last. An id or an
 * idempotency key that is searched for is found at once, wherever it stands.
 */
export async function listPayments(
  ctx: Pick<Context, 'db'>,
  request: {
    readonly accountId: string
    readonly mode: Mode
    readonly filter: PaymentFilter
    readonly before: string | null
    readonly limit: number
    readonly scanRowsMax?: number
  },
): Promise<Page<Payment>> {
  const { accountId, mode, filter, before, limit, scanRowsMax = SCAN_ROWS_MAX } = request
  const search = await findSearch(ctx, request)
  const upTo = filter.to === undefined ? NEWEST : idBoundary('payment', filter.to)
  const from = filter.from === undefined ? OLDEST : idBoundary('payment', filter.from)
  const below = before !== null && before < upTo ? before : upTo
  const only = search?.kind === 'id' ? search.id : null
  const query = listPaymentRows({
    accountId,
    mode,
    agentId: filter.agentId ?? null,
    from: only === null || only < from ? from : only,
    // Nothing stands between an id and the same with one character more.
    below: only === null || only >= below ? below : `${only}0`,
    wallet: filter.wallet ?? null,
    status: filter.status ?? null,
    txHash: search?.kind === 'txHash' ? search.txHash : null,
    address: search?.kind === 'address' ? search.address : null,
    memoPart: search?.kind === 'text' ? search.text : null,
    limit: limit + 1,
    scanRowsMax,
  })
  return toPage(await ctx.db.readLarge(query), limit)
}

async function findSearch(
  ctx: Pick<Context, 'db'>,
  { accountId, mode, filter }: { accountId: string; mode: Mode; filter: PaymentFilter },
): Promise<Search | null> {
  if (filter.search === undefined) return null
  const search = parseSearch(filter.search)
  if (search.kind !== 'text') return search
  const known = await ctx.db.read(findPaymentByKey(accountId, mode, search.text))
  return known === null ? search : { kind: 'id', id: known.id }
}
