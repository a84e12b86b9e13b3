import { idBoundary } from '../../../values/ids.ts'
import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import { SUMS_KEPT_MS } from '../../hourly-sums/record-hourly-sums.ts'
import { sumAgentRecipients } from './agent-recipients-store.ts'
import { periodOf, type Period, type PeriodChoice } from './period.ts'
import {
  AGENT_COLORS,
  AGENTS_SHOWN_MAX,
  PAYMENTS_READ_MAX,
  ROWS_SHOWN_MAX,
  type AgentSpend,
  type Spending,
  type SpendingBy,
  type SpendingRow,
} from './spending.ts'
import { countRefusals, sumSpending, type SpendingSum } from './spending-store.ts'

const HOUR_MS = 60 * 60 * 1_000
/** How the statement numbers the period before, and the first bar of the period. */
const PREVIOUS = 1
const FIRST_BAR = 3

interface SpendingRequest {
  readonly workspaceId: string
  readonly mode: Mode
  readonly period: PeriodChoice
  readonly by: SpendingBy
  /** The one agent to report on. Null for all agents. */
  readonly agentId: string | null
}

/**
 * Returns what agents spent in a calendar period, bar by bar, and in the period before; by agent, recipient, wallet or
 * website; what owners withdrew; and how many requests ended with each result. With `agentId`, the chart, all totals and
 * the rows by recipient are of this agent; the other rows are still of all agents. There are no rows by recipient if the
 * agent made more than `PAYMENTS_READ_MAX` payments, because no sums of one agent by recipient are kept.
 *
 * The sums are exact to the micro-USDC, and days begin and end in the reader's time zone. Hours that are summed are read
 * from their sums. If a day begins within an hour of UTC, as in zones such as India, the payments of that hour are read
 * one by one. So are payments that are in no sum yet, and those whose sums were deleted (`SUMS_KEPT_MS`).
 */
export async function getSpending(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode, period: choice, by, agentId }: SpendingRequest,
): Promise<Spending> {
  const now = ctx.clock.now()
  const period = periodOf(choice, now)
  const { previous, bars, start, end } = period
  const id = (at: Date) => idBoundary('payment', at)
  const boundaries = [previous.start, previous.end, ...bars, end]
  const splitHours = [...new Set(boundaries.map((at) => at.getTime()))].filter((ms) => ms % HOUR_MS !== 0).map(hourOf)
  // The sums of this hour and of all later ones are kept.
  const keptFrom = new Date(hourOf(now.getTime() - SUMS_KEPT_MS).getTime() + HOUR_MS)
  const sumsFrom = later(hourOf(previous.start.getTime()), keptFrom)
  const deleted = previous.start < keptFrom ? [{ from: previous.start, below: earlier(keptFrom, end) }] : []
  const split = splitHours
    .filter((hour) => hour >= keptFrom)
    .map((hour) => ({ from: hour, below: new Date(hour.getTime() + HOUR_MS) }))
  const [[sums, refused], ownRows] = await Promise.all([
    ctx.db.readSlow(
      [
        sumSpending({
          ...{ workspaceId, mode, boundaries, splitHours, sumsFrom, by, agentId },
          unsummed: [...deleted, ...split].map(({ from, below }) => ({ from: id(from), below: id(below) })),
          from: id(later(previous.start, keptFrom)),
          below: id(end),
          agentsMax: agentId === null ? AGENTS_SHOWN_MAX : 1,
          rowsMax: ROWS_SHOWN_MAX,
          paymentsMax: PAYMENTS_READ_MAX + 1,
        }),
        countRefusals({ workspaceId, mode, agentId }, idBoundary('refusal', start), idBoundary('refusal', end)),
      ],
      workspaceId,
    ),
    agentId === null || by !== 'recipient'
      ? null
      : ctx.db.readSlow(
          sumAgentRecipients({
            ...{ workspaceId, mode, agentId, from: id(previous.start), below: id(end) },
            boundaries: [previous.start, previous.end, start, end],
            paymentsMax: PAYMENTS_READ_MAX + 1,
            rowsMax: ROWS_SHOWN_MAX,
          }),
          workspaceId,
        ),
  ])
  const spending = toSpending(sums, { period, by, agentId, refused })
  return ownRows === null || spending.isTooLarge ? spending : { ...spending, rows: ownRows }
}

function toSpending(
  sums: readonly SpendingSum[],
  {
    period,
    by,
    agentId,
    refused,
  }: {
    readonly period: Period
    readonly by: SpendingBy
    readonly agentId: string | null
    readonly refused: number
  },
): Spending {
  const isTooLarge = sums.some(({ kind, confirmed }) => kind === 'read' && confirmed > PAYMENTS_READ_MAX)
  const known = isTooLarge ? [] : sums
  const bars = known.filter(({ kind, name }) => kind === 'bar' && (agentId === null || name === agentId))
  const current = bars.filter(isCurrent)
  const withdrawals = known.filter((sum) => sum.kind === 'withdrawal' && isCurrent(sum))
  return {
    ...{ period, by, isTooLarge },
    spentMicro: addUp(current),
    previousMicro: addUp(bars.filter((sum) => !isCurrent(sum))),
    pendingMicro: current.reduce((total, { pendingMicro }) => total + pendingMicro, 0n),
    withdrawnMicro: addUp(withdrawals),
    agents: toAgents(bars, period.bars.length),
    rows: toRows(known.filter(({ kind }) => kind === 'row' || kind === 'claimed_row')),
    counts: {
      confirmed: current.reduce((total, { confirmed }) => total + confirmed, 0),
      pending: current.reduce((total, { pending }) => total + pending, 0),
      failed: current.reduce((total, { failed }) => total + failed, 0),
      refused,
    },
  }
}

/**
 * Adds up each agent's bars. The agent that spent most comes first, and the group of all other agents last. Agents that
 * spent nothing in the period are left out.
 */
function toAgents(sums: readonly SpendingSum[], bars: number): AgentSpend[] {
  return [...Map.groupBy(sums, ({ name }) => name)]
    .map(([agentId, own]) => {
      const barsMicro = Array.from({ length: bars }, () => 0n)
      for (const { bucket, spentMicro } of own) if (bucket >= FIRST_BAR) barsMicro[bucket - FIRST_BAR] = spentMicro
      const number = own[0]?.agentNumber ?? null
      return {
        agentId,
        color: agentId === null ? null : ((number ?? 1) - 1) % AGENT_COLORS,
        barsMicro,
        totalMicro: addUp(own.filter(isCurrent)),
        previousMicro: addUp(own.filter((sum) => !isCurrent(sum))),
      }
    })
    .filter(({ totalMicro }) => totalMicro > 0n)
    .toSorted((left, right) => bySum(left, right, left.totalMicro, right.totalMicro))
}

function bySum(
  left: { readonly agentId: string | null },
  right: { readonly agentId: string | null },
  leftMicro: bigint,
  rightMicro: bigint,
): number {
  if (left.agentId === null || right.agentId === null) return left.agentId === null ? 1 : -1
  if (leftMicro !== rightMicro) return leftMicro > rightMicro ? -1 : 1
  return left.agentId < right.agentId ? -1 : 1
}

/** Puts the sums of the two periods beside each other. Rows without spending in either are left out. */
function toRows(sums: readonly SpendingSum[]): SpendingRow[] {
  return [...Map.groupBy(sums, ({ kind, name }) => `${kind} ${name ?? ''}`).values()]
    .map((own) => {
      const [first] = own
      const current = own.find(isCurrent)
      const previous = own.find((sum) => !isCurrent(sum))
      return {
        name: first?.name ?? null,
        label: first?.label ?? null,
        isClaimed: first?.kind === 'claimed_row',
        spentMicro: current?.spentMicro ?? 0n,
        previousMicro: previous?.spentMicro ?? 0n,
        payments: (current?.confirmed ?? 0) + (current?.pending ?? 0),
        names: Math.max(...own.map(({ names }) => names)),
      }
    })
    .filter(({ spentMicro, previousMicro }) => spentMicro > 0n || previousMicro > 0n)
    .toSorted((left, right) => {
      if (left.name === null || right.name === null) return left.name === null ? 1 : -1
      if (left.spentMicro !== right.spentMicro) return left.spentMicro > right.spentMicro ? -1 : 1
      if (left.previousMicro !== right.previousMicro) return left.previousMicro > right.previousMicro ? -1 : 1
      return left.name < right.name ? -1 : 1
    })
}

function isCurrent({ bucket }: SpendingSum): boolean {
  return bucket !== PREVIOUS
}

function addUp(sums: readonly SpendingSum[]): bigint {
  return sums.reduce((total, { spentMicro }) => total + spentMicro, 0n)
}

function hourOf(ms: number): Date {
  return new Date(Math.floor(ms / HOUR_MS) * HOUR_MS)
}

function earlier(left: Date, right: Date): Date {
  return left < right ? left : right
}

function later(left: Date, right: Date): Date {
  return left > right ? left : right
}
