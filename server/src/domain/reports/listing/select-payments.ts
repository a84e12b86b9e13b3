import { idBoundary } from '../../../values/ids.ts'
import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import { findPaymentByKey } from '../../payments/payments-store.ts'
import {
  LARGEST_AMOUNT,
  parseSearch,
  SMALLEST_AMOUNT,
  type AmountRange,
  type Search,
} from '../../search/parse-search.ts'
import { resolveSearch } from '../../search/resolve-search.ts'
import { listPaidAddresses, type Candidates } from './candidates-store.ts'
import type { PaymentFilter } from './payment-filter.ts'
import type { PaymentSelection } from './payment-conditions-store.ts'
import { findWalletLike } from './search-wallets-store.ts'

const OLDEST = 'pay_'
/**
 * A text that sorts after every id of a payment. In an id, `pay_` is followed by the time of creation, whose first
 * character will be a digit for thousands of years.
 */
const NEWEST = 'pay_Z'
/** A search for the first characters of an address considers at most this many recipients. */
const PAID_ADDRESSES_MAX = 200
/** `0x` and four digits. A shorter beginning of an address or hash is too common for a look-up by an index. */
const HEAD_CHARS_MIN = 6

/** The payments of a list. */
export interface SelectedPayments {
  readonly selection: PaymentSelection
  /**
   * What indexes find of the search. If `isComplete`, every selected payment is a candidate. Otherwise other payments
   * may match too, for example by their memo. Null if no index can find anything.
   */
  readonly lookup: (Candidates & { readonly isComplete: boolean }) | null
}

interface SelectRequest {
  readonly workspaceId: string
  readonly mode: Mode
  readonly filter: PaymentFilter
}

/**
 * Turns a filter into the conditions of a list. First looks for a payment with the search text as its idempotency key.
 */
export async function selectPayments(
  ctx: Pick<Context, 'db' | 'clock'>,
  request: SelectRequest,
): Promise<SelectedPayments> {
  const { workspaceId, mode, filter } = request
  const { kind } = filter
  const search = await findSearch(ctx, request)
  const parts = await resolveSearch(ctx, { workspaceId, mode, search })
  const amounts = amountsOf(filter, search)
  const below = filter.to === undefined ? NEWEST : idBoundary('payment', filter.to)
  const from = filter.from === undefined ? OLDEST : idBoundary('payment', filter.from)
  const only = search?.kind === 'id' ? search.id : null
  const selection: PaymentSelection = {
    ...parts,
    workspaceId,
    mode,
    from: only === null || only < from ? from : only,
    // No other id sorts between an id and the same id with one more character, so this range contains only the one
    // payment.
    below: only === null || only >= below ? below : `${only}0`,
    agentId: filter.agentId ?? null,
    wallet: filter.wallet ?? null,
    recipient: filter.recipient ?? null,
    status: filter.status ?? null,
    failureCode: filter.failureCode ?? null,
    kind: kind === undefined || kind === 'undelivered' ? null : kind,
    undeliveredAt: kind === 'undelivered' ? ctx.clock.now() : null,
    ...amounts,
  }
  return { selection, lookup: await findLookup(ctx, { selection, search, amounts }) }
}

async function findSearch(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode, filter }: SelectRequest,
): Promise<Search | null> {
  if (filter.search === undefined) return null
  const search = parseSearch(filter.search, 'payment')
  if (search.kind !== 'text') return search
  const known = await ctx.db.read(findPaymentByKey(workspaceId, mode, search.text))
  return known === null ? search : { kind: 'id', id: known.id }
}

/** The amounts that the filter and a search such as `>100` both allow. */
function amountsOf({ minMicro, maxMicro }: PaymentFilter, search: Search | null): AmountRange {
  const wanted = search?.kind === 'amount' ? search.range : { minMicro: SMALLEST_AMOUNT, maxMicro: LARGEST_AMOUNT }
  return {
    minMicro: minMicro !== undefined && minMicro > wanted.minMicro ? minMicro : wanted.minMicro,
    maxMicro: maxMicro !== undefined && maxMicro < wanted.maxMicro ? maxMicro : wanted.maxMicro,
  }
}

async function findLookup(
  ctx: Pick<Context, 'db'>,
  given: { readonly selection: PaymentSelection; readonly search: Search | null; readonly amounts: AmountRange },
): Promise<SelectedPayments['lookup']> {
  const { selection, search, amounts } = given
  const nothing = { recipients: [], minMicro: null, maxMicro: null, hashHead: null, isComplete: true }
  if (amounts.minMicro > SMALLEST_AMOUNT || amounts.maxMicro < LARGEST_AMOUNT) return { ...nothing, ...amounts }
  if (search?.kind === 'hex' && search.head.length >= HEAD_CHARS_MIN) return await findHex(ctx, selection, search)
  if (search?.kind === 'text') {
    const { recipients, amountMicro } = selection
    if (recipients.length === 0 && amountMicro === null) return null
    return { ...nothing, recipients, minMicro: amountMicro, maxMicro: amountMicro, isComplete: false }
  }
  if (search === null && selection.recipient !== null)
    return { ...nothing, recipients: [selection.recipient.toLowerCase()] }
  return null
}

/** Payments from a wallet are found by reading the list, so the look-up is not complete if a wallet matches. */
async function findHex(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode, hexLike }: PaymentSelection,
  { head, tail }: Extract<Search, { kind: 'hex' }>,
): Promise<SelectedPayments['lookup']> {
  const place = { workspaceId, mode }
  const addresses = await ctx.db.read(listPaidAddresses(place, { head, limit: PAID_ADDRESSES_MAX }))
  const wallet = await ctx.db.read(findWalletLike(place, hexLike ?? ''))
  return {
    recipients: addresses.filter((address) => address.endsWith(tail)),
    minMicro: null,
    maxMicro: null,
    hashHead: head,
    isComplete: wallet === null && addresses.length < PAID_ADDRESSES_MAX,
  }
}
