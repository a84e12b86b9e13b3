import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import { SCAN_ROWS_MAX } from '../../../db/bounded-scan.ts'
import { countCandidates } from './candidates-store.ts'
import { countPaymentRows, type CountedRows, type PaymentSums } from './listing-store.ts'
import type { PaymentFilter } from './payment-filter.ts'
import { CANDIDATES_MAX } from './read-page.ts'
import { selectPayments, type SelectedPayments } from './select-payments.ts'

/** The sums are exact if the list has at most this many rows. Otherwise they are those of the newest rows. */
const SUMMED_ROWS_MAX = 100_000

/** The sums of a list. Failed payments moved no money, so they have a count and no sum. */
export interface ListSums extends PaymentSums {
  /**
   * The sums are those of the payments with this id or a newer one, and of older ones that indexes found. Null if they
   * include all payments.
   */
  readonly since: string | null
}

/** Counts and sums the payments of a workspace and mode that match a filter. */
export async function countPayments(
  ctx: Pick<Context, 'db' | 'clock'>,
  {
    limits = { rowsMax: SUMMED_ROWS_MAX, scanRowsMax: SCAN_ROWS_MAX },
    ...request
  }: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly filter: PaymentFilter
    readonly limits?: { readonly rowsMax: number; readonly scanRowsMax: number }
  },
): Promise<ListSums> {
  const selected = await selectPayments(ctx, request)
  const found = await countFound(ctx, selected)
  if (found !== null) return { ...add(NOTHING, found), since: null }
  let [sums, rows]: [PaymentSums, number] = [NOTHING, 0]
  for await (const step of countSteps(ctx, { selected, scanRowsMax: limits.scanRowsMax })) {
    sums = add(sums, step)
    rows += step.lookedAt
    const isLast = step.lookedAt < limits.scanRowsMax
    if (!isLast && step.oldest !== null && rows >= limits.rowsMax) {
      const further = await countFurther(ctx, { selected, below: step.oldest })
      return { ...add(sums, further), since: step.oldest }
    }
  }
  return { ...sums, since: null }
}

const NOTHING: PaymentSums = { confirmed: 0, confirmedMicro: 0n, pending: 0, pendingMicro: 0n, failed: 0 }

function add(one: PaymentSums, other: PaymentSums): PaymentSums {
  return {
    confirmed: one.confirmed + other.confirmed,
    confirmedMicro: one.confirmedMicro + other.confirmedMicro,
    pending: one.pending + other.pending,
    pendingMicro: one.pendingMicro + other.pendingMicro,
    failed: one.failed + other.failed,
  }
}

/** Counts what indexes find in the part of the list that was not read. */
async function countFurther(
  ctx: Pick<Context, 'db'>,
  { selected: { selection, lookup }, below }: { readonly selected: SelectedPayments; readonly below: string },
): Promise<PaymentSums> {
  if (lookup === null) return NOTHING
  const bounds = { candidates: lookup, candidatesMax: CANDIDATES_MAX }
  const found = await ctx.db.readSlow(countCandidates({ ...selection, below }, bounds), selection.workspaceId)
  return found ?? NOTHING
}

/** Counts the selected payments with indexes alone. Returns null if that is not possible. */
export async function countFound(
  ctx: Pick<Context, 'db'>,
  { selection, lookup }: SelectedPayments,
): Promise<CountedRows | null> {
  if (lookup?.isComplete !== true) return null
  const bounds = { candidates: lookup, candidatesMax: CANDIDATES_MAX }
  return await ctx.db.readSlow(countCandidates(selection, bounds), selection.workspaceId)
}

/** Counts the selected payments in steps, from the newest on, so that no statement takes long. */
export async function* countSteps(
  ctx: Pick<Context, 'db'>,
  { selected: { selection }, scanRowsMax }: { readonly selected: SelectedPayments; readonly scanRowsMax: number },
): AsyncGenerator<CountedRows> {
  let below = selection.below
  for (;;) {
    const step = await ctx.db.readSlow(countPaymentRows({ ...selection, below }, scanRowsMax), selection.workspaceId)
    yield step
    if (step.oldest === null || step.lookedAt < scanRowsMax) return
    below = step.oldest
  }
}
