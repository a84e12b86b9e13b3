import type { AuditEntry } from '@bursar/server/src/console/contract/audit.ts'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'

/** ID prefixes, each with the section whose pages show objects with such an ID. */
const PAGES_OF_IDS: readonly (readonly [prefix: string, ...section: string[]])[] = [
  ['pay_', 'payments'],
  ['grt_', 'grants'],
  ['whk_', 'developers', 'webhooks'],
  ['dlv_', 'developers', 'deliveries'],
]

/**
 * For objects without a page of their own, the list that contains them. The key is the first part of an action, such as
 * `key` in `key.revoked`.
 */
const LISTS_OF_ACTIONS: Readonly<Record<string, readonly string[]>> = {
  recipient: ['recipients'],
  key: ['developers', 'keys'],
  connection: ['developers', 'connections'],
  agents: ['stop'],
}

/** Objects whose IDs tell a person nothing. The sentence and the details of an entry say all about them. */
const UNNAMED_NOUNS: readonly string[] = ['invitation', 'plan', 'workspace', 'view', 'agents']

/** Returns whether an entry shows its subject. It does not show an actor who acted on themselves a second time. */
export function showsSubject({ action, actor, subject }: Pick<AuditEntry, 'action' | 'actor' | 'subject'>): boolean {
  return subject !== null && subject !== actor.id && !UNNAMED_NOUNS.includes(action.split('.')[0] ?? '')
}

interface Location {
  readonly mode: Mode
  readonly parts: readonly string[]
}

/** The page that shows the subject of an audit entry. Null if there is none, or if the subject was deleted. */
export function locateSubject({
  action,
  subject,
  mode,
}: Pick<AuditEntry, 'action' | 'subject' | 'mode'>): Location | null {
  if (subject === null || mode === null || action.endsWith('.deleted')) return null
  const [noun = ''] = action.split('.')
  if (noun === 'agent') return { mode, parts: ['agents', subject] }
  if (noun === 'wallet') return { mode, parts: ['wallets', subject] }
  const page = PAGES_OF_IDS.find(([prefix]) => subject.startsWith(prefix))
  if (page !== undefined) return { mode, parts: [...page.slice(1), subject] }
  const list = LISTS_OF_ACTIONS[noun]
  return list === undefined ? null : { mode, parts: list }
}
