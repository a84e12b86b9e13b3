import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import { addMonths, MONTHS_MAX, monthAt, startOfMonth, type Month } from '../../months/month.ts'
import { listWallets } from '../../wallets/queries.ts'
import { listMonthStatements, type ListedStatement } from './statements-store.ts'

/** The months of a workspace for which there are statements, and the wallets of one of these months. */
export interface MonthList {
  /** The newest first. */
  readonly months: readonly Month[]
  /** Null if the workspace has no wallet in this mode. */
  readonly month: Month | null
  readonly statements: readonly (ListedStatement & { readonly isOver: boolean })[]
}

/**
 * Lists the statements of a month: by default the last month that is over, or the current one if there is no other. If
 * the workspace had no wallet in the given month, uses the default.
 */
export async function listStatements(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode, month: wanted }: { workspaceId: string; mode: Mode; month: Month | null },
): Promise<MonthList> {
  const now = ctx.clock.now()
  const wallets = await listWallets(ctx, { workspaceId, mode })
  const times = wallets.map(({ createdAt }) => createdAt.getTime())
  if (times.length === 0) return { months: [], month: null, statements: [] }
  const first = monthAt(new Date(Math.min(...times)))
  const months: Month[] = []
  for (let month = monthAt(now); month >= first && months.length < MONTHS_MAX; month = addMonths(month, -1))
    months.push(month)
  const month = months.find((one) => one === wanted) ?? months[1] ?? months[0] ?? first
  const next = addMonths(month, 1)
  const range = { month, next, createdBefore: startOfMonth(next) }
  const statements = await ctx.db.readSlow(listMonthStatements({ workspaceId, mode }, range), workspaceId)
  const isOver = startOfMonth(next) <= now
  return {
    months,
    month,
    statements: statements.map((one) => ({
      ...one,
      // A wallet that was created in this month began with nothing.
      openingMicro: one.createdAt >= startOfMonth(month) ? 0n : one.openingMicro,
      isOver,
    })),
  }
}
