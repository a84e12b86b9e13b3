import type { Address } from '../../../values/address.ts'
import type { Mode } from '../../../values/mode.ts'
import { Problem } from '../../../values/problem.ts'
import type { Context } from '../../context.ts'
import { addMonths, monthAt, startOfMonth, type Month } from '../../months/month.ts'
import { getWallet } from '../../wallets/queries.ts'
import type { WalletSummary } from '../../wallets/wallet.ts'
import { addSums, completeBalances, type MonthRange, type Statement, type StatementState } from './statement.ts'
import {
  countPendingBefore,
  findEarlierBalance,
  findMonthFacts,
  sumMovements,
  type MonthFacts,
  type WalletPlace,
} from './statements-store.ts'

export interface StatementRequest extends WalletPlace {
  readonly workspaceId: string
  readonly mode: Mode
  readonly wallet: Address
  readonly month: Month
}

interface WalletMonth {
  readonly wallet: WalletSummary
  readonly facts: MonthFacts
  readonly range: MonthRange
}

/**
 * Returns the wallet, and which blocks belong to the month.
 *
 * Errors: 404 `wallet_not_found`; 404 `not_found` if the wallet did not exist in this month, or the month has not begun.
 */
export async function getWalletMonth(
  ctx: Pick<Context, 'db' | 'clock'>,
  request: StatementRequest,
): Promise<WalletMonth> {
  const { workspaceId, mode, wallet: address, month } = request
  const [wallet, facts] = await Promise.all([
    getWallet(ctx, { workspaceId, mode, address }),
    ctx.db.read(findMonthFacts(request, { month, next: addMonths(month, 1) })),
  ])
  const range = rangeOf(wallet, { month, facts })
  if (range === null || month > monthAt(ctx.clock.now())) throw noStatement()
  return { wallet, facts, range }
}

/**
 * Returns the statement of a wallet and a month, without its movements (D90). A movement belongs to the month in which
 * its block was mined. Payments count if they are confirmed, so neither a failed payment nor one whose block was
 * replaced moves anything.
 *
 * Errors: those of `getWalletMonth`.
 */
export async function getStatement(ctx: Pick<Context, 'db' | 'clock'>, request: StatementRequest): Promise<Statement> {
  const { workspaceId, wallet: address, month } = request
  const { wallet, facts, range } = await getWalletMonth(ctx, request)
  const [sums, pending, earlierMicro] = await Promise.all([
    ctx.db.readSlow(sumMovements(request, range), workspaceId),
    range.toBlock === null ? 0 : ctx.db.readSlow(countPendingBefore(request, range.to), workspaceId),
    isOpeningUnknown(wallet, month, facts) ? computeOpening(ctx, request, { wallet, range }) : null,
  ])
  const totals = addSums(sums)
  const { openingMicro, closingMicro } = facts
  const isNew = isCreatedIn(wallet, month)
  const balances = completeBalances({
    opening: isNew
      ? { micro: 0n, source: 'created', block: null }
      : openingMicro === null
        ? null
        : { micro: openingMicro, source: 'chain', block: range.fromBlock - 1n },
    closing: closingMicro === null ? null : { micro: closingMicro, source: 'chain', block: range.toBlock },
    earlierMicro,
    range,
    netMicro: totals.inMicro - totals.outMicro,
  })
  const state = stateOf(range, facts, pending)
  return { wallet: address, walletName: wallet.name, month, state, range, ...balances, sums, totals, pending }
}

function isCreatedIn({ createdAt }: WalletSummary, month: Month): boolean {
  return createdAt >= startOfMonth(month)
}

function isOpeningUnknown(wallet: WalletSummary, month: Month, facts: MonthFacts): boolean {
  return facts.openingMicro === null && facts.closingMicro === null && !isCreatedIn(wallet, month)
}

/** Returns the blocks of the month. Null if the wallet did not exist, or if the month's first block is not known. */
function rangeOf(
  wallet: WalletSummary,
  { month, facts: { firstBlock, nextFirstBlock } }: { month: Month; facts: MonthFacts },
): MonthRange | null {
  const isNew = isCreatedIn(wallet, month)
  if (monthAt(wallet.createdAt) > month || (firstBlock === null && !isNew)) return null
  const times = { from: startOfMonth(month), to: startOfMonth(addMonths(month, 1)) }
  // No USDC can have reached the wallet before it was created.
  const fromBlock = isNew || firstBlock === null ? 0n : firstBlock
  return { ...times, fromBlock, toBlock: nextFirstBlock === null ? null : nextFirstBlock - 1n }
}

/** Computes the opening balance from the newest balance that was recorded before, or from the wallet's creation on. */
async function computeOpening(
  ctx: Pick<Context, 'db'>,
  request: StatementRequest,
  { wallet, range }: { wallet: WalletSummary; range: MonthRange },
): Promise<bigint> {
  const earlier = await ctx.db.read(findEarlierBalance(request, request.month))
  const before = {
    fromBlock: earlier?.firstBlock ?? 0n,
    toBlock: range.fromBlock - 1n,
    from: earlier === null ? startOfMonth(monthAt(wallet.createdAt)) : startOfMonth(earlier.month),
    to: range.from,
  }
  const { inMicro, outMicro } = addSums(await ctx.db.readSlow(sumMovements(request, before), request.workspaceId))
  return (earlier?.balanceMicro ?? 0n) + inMicro - outMicro
}

function stateOf({ toBlock }: MonthRange, { isNextFinal, readTo }: MonthFacts, pending: number): StatementState {
  if (toBlock === null) return 'open'
  return isNextFinal && readTo !== null && readTo >= toBlock && pending === 0 ? 'closed' : 'settling'
}

function noStatement(): Problem {
  return new Problem('not_found', 'There is no statement of this wallet for this month.')
}
