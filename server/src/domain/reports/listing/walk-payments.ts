import type { Mode } from '../../../values/mode.ts'
import { Problem } from '../../../values/problem.ts'
import type { Context } from '../../context.ts'
import type { ListedPayment } from '../../purchases/purchase-summary.ts'
import { SCAN_ROWS_MAX } from '../../../db/bounded-scan.ts'
import type { PaymentFilter } from './payment-filter.ts'
import { readPaymentPage } from './read-page.ts'
import { selectPayments, type SelectedPayments } from './select-payments.ts'
import { countFound, countSteps } from './count-payments.ts'
import { invalidRequest } from '../../../values/invalid-request.ts'

const PAGE_PAYMENTS = 500
/**
 * A walk returns all matching payments or is refused. It is refused if more than `paymentsMax` payments match, or if
 * more than `rowsMax` rows would have to be read.
 */
const LIMITS = { paymentsMax: 100_000, rowsMax: 1_000_000, scanRowsMax: SCAN_ROWS_MAX }

export interface PaymentWalk {
  /**
   * Returns the next page, which is never empty, or null at the end. Between two calls, the walk holds no database
   * connection and no cursor.
   */
  next(): Promise<readonly ListedPayment[] | null>
}

/**
 * Walks through all payments of a workspace and mode that match a filter, newest first, page by page. Counts the
 * payments first. If there are too many, throws 400 `validation_failed`, whose details name the parameter `from`. If
 * `signal` is aborted, the count and `next` throw its reason.
 */
export async function walkPayments(
  ctx: Pick<Context, 'db' | 'clock'>,
  {
    signal,
    limits = LIMITS,
    ...request
  }: {
    readonly workspaceId: string
    readonly mode: Mode
    readonly filter: PaymentFilter
    readonly signal: AbortSignal
    readonly limits?: typeof LIMITS
  },
): Promise<PaymentWalk> {
  const selected = await selectPayments(ctx, request)
  await checkCount(ctx, { selected, limits, signal })
  let before: string | null = null
  let isOver = false
  return {
    async next() {
      while (!isOver) {
        signal.throwIfAborted()
        const bounds = { before, limit: PAGE_PAYMENTS, scanRowsMax: limits.scanRowsMax, sort: 'newest' } as const
        const page: Awaited<ReturnType<typeof readPaymentPage>> = await readPaymentPage(ctx, { selected, ...bounds })
        before = page.next
        isOver = before === null
        if (page.items.length > 0) return page.items
      }
      return null
    },
  }
}

/** Throws if too many payments match or too many rows would have to be read. */
async function checkCount(
  ctx: Pick<Context, 'db'>,
  { selected, limits, signal }: { selected: SelectedPayments; limits: typeof LIMITS; signal: AbortSignal },
): Promise<void> {
  const { paymentsMax, rowsMax, scanRowsMax } = limits
  signal.throwIfAborted()
  if ((await countFound(ctx, selected)) !== null) return
  let [payments, rows] = [0, 0]
  for await (const step of countSteps(ctx, { selected, scanRowsMax })) {
    signal.throwIfAborted()
    payments += step.confirmed + step.pending + step.failed
    rows += step.lookedAt
    if (payments > paymentsMax) throw tooMany(`More than ${paymentsMax.toLocaleString('en')} payments match`)
    const isLast = step.lookedAt < scanRowsMax
    if (!isLast && rows >= rowsMax)
      throw tooMany(`More than ${rowsMax.toLocaleString('en')} payments would have to be read`)
  }
}

function tooMany(what: string): Problem {
  const message = `${what}. Choose a shorter time range.`
  return invalidRequest([{ path: 'from', message }])
}
