import type { AuditEntry, Mode } from '../api/wire.ts'

/** Ids by their kind, and the section of their page. */
const PAGES_OF_IDS: readonly (readonly [prefix: string, ...section: string[]])[] = [
  ['pay_', 'payments'],
  ['grt_', 'grants'],
  ['whk_', 'developers', 'webhooks'],
  ['dlv_', 'developers', 'deliveries'],
]

/** Subjects that have no page of their own, but a list in which they stand. */
const LISTS_OF_ACTIONS: Readonly<Record<string, readonly string[]>> = {
  recipient: ['recipients'],
  key: ['developers', 'keys'],
  connection: ['developers', 'connections'],
}

interface Place {
  readonly mode: Mode
  readonly parts: readonly string[]
}

/** The page of what something was done to, where there is one; what was deleted has none. */
export function locateSubject({ action, subject, details }: AuditEntry): Place | null {
  const mode = details['mode']
  if (subject === null || (mode !== 'test' && mode !== 'live') || action.endsWith('.deleted')) return null
  const [noun = ''] = action.split('.')
  if (noun === 'agent') return { mode, parts: ['agents', subject] }
  if (noun === 'wallet') return { mode, parts: ['wallets', subject] }
  const page = PAGES_OF_IDS.find(([prefix]) => subject.startsWith(prefix))
  if (page !== undefined) return { mode, parts: [...page.slice(1), subject] }
  const list = LISTS_OF_ACTIONS[noun]
  return list === undefined ? null : { mode, parts: list }
}
