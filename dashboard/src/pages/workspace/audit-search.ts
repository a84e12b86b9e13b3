import type { AuditFilter } from '@bursar/server/src/console/contract/audit.ts'
import { actionsOf } from '@bursar/server/src/domain/audit/audit-entry.ts'
import { parseDayRange } from '../../format/day-range.ts'

/** The filters in the URL of the audit log. */
export interface AuditSearch {
  readonly filter: AuditFilter
  /** The values of the date fields: days in the user's time zone, or empty. */
  readonly fromDay: string
  readonly toDay: string
  readonly isFiltered: boolean
}

/** Parses the URL. Invalid parameters are ignored. */
export function parseAuditSearch(search: URLSearchParams): AuditSearch {
  const { from, to, fromDay, toDay } = parseDayRange(search)
  const action = search.get('action') ?? ''
  const wanted = { actor: search.get('actor') ?? '', action: actionsOf(action).length === 0 ? '' : action, from, to }
  const filter: AuditFilter = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== ''))
  return { filter, fromDay, toDay, isFiltered: Object.keys(filter).length > 0 }
}
