import type { PeriodChoice, PeriodName } from '../domain/reports/spending/period.ts'
import { PERIOD_DAYS_MAX } from '../domain/reports/spending/period.ts'
import { daysBetween, isDay, isZone } from '../domain/reports/spending/calendar.ts'
import { invalidMember } from '../values/invalid-request.ts'

/** Years outside of these have no payments, and dates in them would need more digits. */
const [FIRST_DAY, LAST_DAY] = ['2000-01-01', '2999-12-31'] as const

interface PeriodQuery {
  readonly period: PeriodName
  readonly from?: string
  readonly to?: string
  readonly zone: string
}

/** Parses the period of a report. Throws 400 that names the invalid parameter. */
export function parsePeriod({ period, from, to, zone }: PeriodQuery): PeriodChoice {
  if (!isZone(zone)) throw invalidMember('zone', 'must be the name of a time zone, such as "Europe/Berlin"')
  if (period !== 'custom') return { name: period, days: null, zone }
  const days = { from: parseDay('from', from), to: parseDay('to', to) }
  const count = daysBetween(days.from, days.to) + 1
  if (count < 1) throw invalidMember('to', 'must not be before from')
  if (count > PERIOD_DAYS_MAX) throw invalidMember('to', `must be at most ${PERIOD_DAYS_MAX} days after from`)
  return { name: period, days, zone }
}

function parseDay(member: string, text: string | undefined): string {
  if (text === undefined || !isDay(text) || text < FIRST_DAY || text > LAST_DAY)
    throw invalidMember(member, 'must be a day such as "2026-11-30"')
  return text
}
