import { idBoundary } from '../../../values/ids.ts'
import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import { findPaymentByKey } from '../../payments/payments-store.ts'
import { parseSearch, type PaymentFilter, type PaymentSearch } from './payment-filter.ts'
import type { PaymentSelection } from './listing-store.ts'

const OLDEST = 'pay_'
/**
 * A text that sorts after every id of a payment. In an id, `pay_` is followed by the time of creation, whose first
 * character will be a digit for thousands of years.
 */
const NEWEST = 'pay_Z'

/**
 * Turns a filter into the conditions of a scan. First looks for a payment with the search text as its idempotency key.
 */
export async function selectPayments(
  ctx: Pick<Context, 'db' | 'clock'>,
  request: { readonly workspaceId: string; readonly mode: Mode; readonly filter: PaymentFilter },
): Promise<PaymentSelection> {
  const { workspaceId, mode, filter } = request
  const { kind } = filter
  const search = await findSearch(ctx, request)
  const below = filter.to === undefined ? NEWEST : idBoundary('payment', filter.to)
  const from = filter.from === undefined ? OLDEST : idBoundary('payment', filter.from)
  const only = search?.kind === 'id' ? search.id : null
  return {
    workspaceId,
    mode,
    agentId: filter.agentId ?? null,
    from: only === null || only < from ? from : only,
    // No other id sorts between an id and the same id with one more character, so this range contains only the one
    // payment.
    below: only === null || only >= below ? below : `${only}0`,
    wallet: filter.wallet ?? null,
    status: filter.status ?? null,
    kind: kind === undefined || kind === 'undelivered' ? null : kind,
    undeliveredAt: kind === 'undelivered' ? ctx.clock.now() : null,
    txHash: search?.kind === 'txHash' ? search.txHash : null,
    address: search?.kind === 'address' ? search.address : null,
    textPart: search?.kind === 'text' ? search.text : null,
  }
}

async function findSearch(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode, filter }: { workspaceId: string; mode: Mode; filter: PaymentFilter },
): Promise<PaymentSearch | null> {
  if (filter.search === undefined) return null
  const search = parseSearch(filter.search)
  if (search.kind !== 'text') return search
  const known = await ctx.db.read(findPaymentByKey(workspaceId, mode, search.text))
  return known === null ? search : { kind: 'id', id: known.id }
}
