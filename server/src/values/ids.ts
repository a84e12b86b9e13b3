import { createSortableId, formatSortableTime, parseSortableTime } from '../lib/ids.ts'

/** Each kind of id has its own prefix. The rest of an id sorts by the time when it was created. */
const PREFIXES = {
  workspace: 'acc_',
  key: 'key_',
  grant: 'grt_',
  payment: 'pay_',
  event: 'evt_',
  user: 'usr_',
  invitation: 'inv_',
  auditEntry: 'aud_',
  client: 'svc_client_',
  connection: 'con_',
  endpoint: 'whk_',
  delivery: 'dlv_',
  deposit: 'dep_',
  refusal: 'ref_',
  ownerRequest: 'owr_',
  view: 'viw_',
  stop: 'stp_',
  move: 'mov_',
} as const

export type IdKind = keyof typeof PREFIXES

const SORTABLE_PATTERN = /^[0-9A-HJKMNP-TV-Z]{26}$/

export function createId(kind: IdKind, now: Date): string {
  return PREFIXES[kind] + createSortableId(now)
}

/**
 * Returns a text for use in comparisons. It sorts after all ids of this kind that were created before `at`, and before
 * all that were created at that time or later.
 */
export function idBoundary(kind: IdKind, at: Date): string {
  return PREFIXES[kind] + formatSortableTime(new Date(Math.max(at.getTime(), 0)))
}

/** Returns when an id was created. */
export function timeOfId(kind: IdKind, id: string): Date {
  return parseSortableTime(id.slice(PREFIXES[kind].length))
}

/**
 * Returns whether a text from a request has the format of an id of this kind. If it does not, callers need not query
 * the database.
 */
export function isId(kind: IdKind, text: string): boolean {
  return text.startsWith(PREFIXES[kind]) && SORTABLE_PATTERN.test(text.slice(PREFIXES[kind].length))
}
