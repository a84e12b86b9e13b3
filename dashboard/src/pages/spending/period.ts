import type { Spending } from '@bursar/server/src/console/contract/overview.ts'
import type { SpendingChoice } from '../../api/queries.ts'

/** The periods to choose from, besides days that the reader picks. */
export const PERIOD_CHOICES = [
  { period: 'today', text: 'Today' },
  { period: 'this_week', text: 'This week' },
  { period: 'this_month', text: 'This month' },
  { period: 'last_month', text: 'Last month' },
] as const
const DEFAULT_PERIOD = 'this_month'

export const BY_CHOICES = [
  { by: 'agent', text: 'By agent', title: 'Agent' },
  { by: 'recipient', text: 'By recipient', title: 'Recipient' },
  { by: 'wallet', text: 'By wallet', title: 'Wallet' },
  { by: 'host', text: 'By website', title: 'Website' },
] as const
export type By = (typeof BY_CHOICES)[number]['by']

export type Choice = Required<Pick<SpendingChoice, 'period'>> & SpendingChoice & { readonly by: By }

const DAY_PATTERN = /^\d{4}-\d{2}-\d{2}$/

/** Parses the period and the grouping in the URL of the overview. Invalid parameters are ignored. */
export function parseChoice(search: URLSearchParams): Choice {
  const by = BY_CHOICES.find((choice) => choice.by === search.get('by'))?.by ?? 'agent'
  const [from, to] = [search.get('from') ?? '', search.get('to') ?? '']
  if (search.get('period') === 'custom' && DAY_PATTERN.test(from) && DAY_PATTERN.test(to)) {
    return { period: 'custom', from, to, by }
  }
  const named = PERIOD_CHOICES.find(({ period }) => period === search.get('period'))
  return { period: named?.period ?? DEFAULT_PERIOD, by }
}

/** The URL parameters of a choice. What is the default is left out. */
export function toSearch({ period, by, from, to }: Choice): string {
  const given = {
    ...(period === DEFAULT_PERIOD ? {} : { period }),
    ...(period === 'custom' && from !== undefined && to !== undefined ? { from, to } : {}),
    ...(by === 'agent' ? {} : { by }),
  }
  return `?${new URLSearchParams(given)}`
}

/** The name of a period, for use after “Spent”. */
export function periodText(period: Spending['period']): string {
  return PERIOD_CHOICES.find((choice) => choice.period === period)?.text.toLowerCase() ?? ''
}

/** How an amount has changed from the period before: `+12 %`, or null if there was none before. */
export function changeText(nowMicro: bigint, beforeMicro: bigint): string | null {
  if (beforeMicro === 0n) return null
  const percent = ((nowMicro - beforeMicro) * 1_000n) / beforeMicro
  const rounded = Math.round(Number(percent) / 10)
  if (rounded === 0) return '0 %'
  return `${rounded > 0 ? '+' : '−'}${Math.abs(rounded).toLocaleString('en-GB')} %`
}
