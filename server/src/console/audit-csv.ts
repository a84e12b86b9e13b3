import type { TimeZone } from '../values/time-zone.ts'
import type { AuditEntry } from './contract/audit.ts'
import type { CsvRow } from './csv.ts'

export const AUDIT_COLUMNS = [
  ...(['id', 'at', 'actor_kind', 'actor_name', 'actor_id', 'action', 'subject', 'subject_name', 'mode'] as const),
  ...(['details', 'detail_names', 'time_zone'] as const),
]

/** Formats an entry of the audit log for a file. `details` is JSON, and so are the names of the details that are ids. */
export function toAuditRow(entry: AuditEntry, zone: TimeZone): CsvRow<(typeof AUDIT_COLUMNS)[number]> {
  const { id, at, mode, actor, action, subject, details } = entry
  const { mode: _mode, ...others } = details
  const names = Object.entries(entry.known_details).map(([detail, { name }]) => [detail, name] as const)
  return {
    ...{ id, at: zone.format(new Date(at)), action, subject, time_zone: zone.name },
    ...{ actor_kind: actor.kind, actor_name: actor.known?.name ?? null, actor_id: actor.id },
    subject_name: entry.known_subject?.name ?? null,
    mode,
    details: Object.keys(others).length === 0 ? null : JSON.stringify(others),
    detail_names: names.length === 0 ? null : JSON.stringify(Object.fromEntries(names)),
  }
}
