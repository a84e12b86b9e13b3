import { addDays, daysBetween, monthStart, openZoneClock, weekStart, type ZoneClock } from './calendar.ts'

/** The periods of a report. `custom` has a first and a last day. */
export const PERIODS = ['today', 'this_week', 'this_month', 'last_month', 'custom'] as const
export type PeriodName = (typeof PERIODS)[number]

/** The most days of a report: a quarter. The chart has a bar for each of them. */
export const PERIOD_DAYS_MAX = 92

const HOUR_MS = 60 * 60 * 1_000

/** Days of a calendar, both included. */
export interface Days {
  readonly from: string
  readonly to: string
}

export interface Span {
  readonly days: Days
  readonly start: Date
  readonly end: Date
}

/** A calendar period of a time zone, with the period before it. */
export interface Period extends Span {
  readonly zone: string
  /** When each bar of the chart begins: one for each day, or one for each hour if the period is a single day. */
  readonly bars: readonly Date[]
  /**
   * The period before, to compare with. If the period is not over, it has as many days as the period has had, so that
   * like is compared with like.
   */
  readonly previous: Span
}

export interface PeriodChoice {
  readonly name: PeriodName
  /** The days of a `custom` period. Ignored for the others. */
  readonly days: Days | null
  readonly zone: string
}

/** Returns the period that a reader in the zone chose. A month is a calendar month, and a week begins on Monday. */
export function periodOf({ name, days: custom, zone }: PeriodChoice, now: Date): Period {
  const clock = openZoneClock(zone)
  const today = clock.dayOf(now)
  const days = chooseDays(name, custom, today)
  const count = daysBetween(days.from, days.to) + 1
  const { start, end } = spanOf(days, clock)
  return {
    ...{ zone, days, start, end },
    bars:
      count === 1
        ? hoursBetween(start, end)
        : Array.from({ length: count }, (_, day) => clock.startOf(addDays(days.from, day))),
    previous: spanOf(previousDays(name, days, today), clock),
  }
}

function chooseDays(name: PeriodName, custom: Days | null, today: string): Days {
  switch (name) {
    case 'today':
      return { from: today, to: today }
    case 'this_week':
      return { from: weekStart(today), to: addDays(weekStart(today), 6) }
    case 'this_month':
      return { from: monthStart(today), to: addDays(monthStart(today, 1), -1) }
    case 'last_month':
      return { from: monthStart(today, -1), to: addDays(monthStart(today), -1) }
    case 'custom':
      return custom ?? { from: today, to: today }
  }
}

function previousDays(name: PeriodName, { from, to }: Days, today: string): Days {
  const count = daysBetween(from, to) + 1
  const isMonth = name === 'this_month' || name === 'last_month'
  const first = isMonth ? monthStart(from, -1) : addDays(from, -count)
  const last = addDays(from, -1)
  if (today >= to || today < from) return { from: first, to: last }
  const sameDay = addDays(first, daysBetween(from, today))
  return { from: first, to: sameDay < last ? sameDay : last }
}

function spanOf(days: Days, clock: ZoneClock): Span {
  return { days, start: clock.startOf(days.from), end: clock.startOf(addDays(days.to, 1)) }
}

function hoursBetween(start: Date, end: Date): readonly Date[] {
  const count = Math.ceil((end.getTime() - start.getTime()) / HOUR_MS)
  return Array.from({ length: count }, (_, hour) => new Date(start.getTime() + hour * HOUR_MS))
}
