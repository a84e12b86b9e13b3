import { createSortableId, formatSortableTime } from '../lib/ids.ts'

/** The prefix tells the kind. The rest of an id sorts by the time when it was created. */
const PREFIXES = {
  account: 'acc_',
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
} as const

export type IdKind = keyof typeof PREFIXES

const SORTABLE_PATTERN = /^[0-9A-HJKMNP-TV-Z]{26}$/

export function createId(kind: IdKind, now: Date): string {
  return PREFIXES[kind] + createSortableId(now)
}

/** Returns a text that sorts below all ids of this kind created at that time or later, and above all earlier ones. */
export function idBoundary(kind: IdKind, at: Date): string {
  return PREFIXES[kind] + formatSortableTime(new Date(Math.max(at.getTime(), 0)))
}

/** Returns whether a text from outside can be an id of this kind. A text that cannot be one is not looked up. */
export function isId(kind: IdKind, text: string): boolean {
  return text.startsWith(PREFIXES[kind]) && SORTABLE_PATTERN.test(text.slice(PREFIXES[kind].length))
}
