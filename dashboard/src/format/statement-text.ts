import type { Movement, Statement } from '@bursar/server/src/console/contract/statements.ts'

const MONTH = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const UTC_TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
})

/** A month such as `2026-10` as `October 2026`. */
export function formatMonth(month: string): string {
  return MONTH.format(new Date(`${month}-01T00:00:00Z`))
}

/** The time of a movement in UTC, to the minute: `12 Nov, 14:03`. The title of the statement has the year. */
export function formatUtcTime(iso: string): string {
  return UTC_TIME.format(new Date(iso))
}

/** The month before or after a month such as `2026-10`. */
export function addMonths(month: string, count: 1 | -1): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 + count, 1)).toISOString().slice(0, 'YYYY-MM'.length)
}

export const MOVEMENT_TEXTS: Readonly<Record<Movement['type'], string>> = {
  payment: 'Payment',
  purchase: 'Purchase',
  withdrawal: 'Withdrawal',
  deposit: 'Deposit',
  failed_payment: 'Failed payment',
  unexplained_transfer: 'Unexplained transfer',
}

/** The same in the plural, for sums. */
export const MOVEMENTS_TEXTS: Readonly<Record<Movement['type'], string>> = {
  payment: 'Payments',
  purchase: 'Purchases',
  withdrawal: 'Withdrawals',
  deposit: 'Deposits',
  failed_payment: 'Failed payments (gas only)',
  unexplained_transfer: 'Unexplained transfers',
}

/** Says where a balance comes from. */
export function describeBalance({ source, block_number }: Statement['opening']): string {
  switch (source) {
    case 'chain':
      return `The balance on the chain after block ${String(block_number)}`
    case 'created':
      return 'The wallet was created in this month'
    case 'computed':
      return block_number === null
        ? 'Computed from the movements: the month is not over'
        : 'Computed from the movements: the chain could not be asked for this balance'
  }
}
