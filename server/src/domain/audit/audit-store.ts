import type { Scanned } from '../../db/bounded-scan.ts'
import { readScan, scanText } from '../../db/bounded-scan-query.ts'
import { listOf, narrow, pick, type RowOf } from '../../db/column.ts'
import { changed, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import { createId } from '../../values/ids.ts'
import { queueText } from '../transparency-log/transparency-log-store.ts'
import type { Actor, AuditAction, AuditEntry } from './audit-entry.ts'

const { audit_entries: entries } = tables

const ENTRY_ROW = {
  ...pick(entries, 'log_id', 'id', 'created_at', 'actor_kind', 'actor_id'),
  action: narrow<AuditAction>(entries.action),
  subject: entries.subject,
  details: narrow<AuditEntry['details']>(entries.details),
}

const COLUMNS = listOf(ENTRY_ROW)

/** Returns a statement that inserts what `rows` selects, and queues each entry for the transparency log (D80). */
function insertText(rows: string): string {
  return `with added as (
      insert into audit_entries (${COLUMNS}) ${rows}
      returning log_id, id as subject, created_at as at
    ) ${queueText('audit', 'added')}`
}

/** Inserts an audit entry. The caller must run it in the same transaction as the change that it records. */
export function insertAuditEntry({
  logId,
  createdAt,
  actor,
  action,
  subject = null,
  details = {},
}: Pick<AuditEntry, 'logId' | 'createdAt' | 'actor' | 'action'> & Partial<AuditEntry>): Query<boolean> {
  const id = createId('auditEntry', createdAt)
  return {
    name: 'insert_audit_entry',
    text: insertText('values ($1, $2, $3, $4, $5, $6, $7, $8)'),
    values: [logId, id, createdAt, actor.kind, actor.id ?? null, action, subject, JSON.stringify(details)],
    read: changed,
  }
}

/** Does for many entries what `insertAuditEntry` does for one, in one statement. */
export function insertAuditEntries(
  rows: readonly (Pick<AuditEntry, 'logId' | 'createdAt' | 'actor' | 'action'> & Partial<AuditEntry>)[],
): Query<boolean> {
  return {
    name: 'insert_audit_entries',
    text: insertText(`select * from unnest(
      $1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[])`),
    values: [
      rows.map(({ logId }) => logId),
      rows.map(({ createdAt }) => createId('auditEntry', createdAt)),
      rows.map(({ createdAt }) => createdAt),
      rows.map(({ actor }) => actor.kind),
      rows.map(({ actor }) => actor.id ?? null),
      rows.map(({ action }) => action),
      rows.map(({ subject = null }) => subject),
      rows.map(({ details = {} }) => JSON.stringify(details)),
    ],
    read: changed,
  }
}

/**
 * Inserts an audit entry about a user's own sign-ins, passkeys or recovery codes. Writes one row to the user's log, and
 * one row to the log of each workspace that the user belongs to now. That row has no subject, and only the details in
 * `shared`, because a workspace has no business with a person's devices. Writes nothing for a user who has never belonged to a workspace, because anybody can sign up and the log is kept forever. Uses the primary
 * key and `members_by_user`.
 */
export function insertPersonalEntry(
  userId: string,
  {
    createdAt,
    action,
    subject = null,
    details = {},
    shared = {},
  }: Pick<AuditEntry, 'createdAt' | 'action'> & Partial<AuditEntry> & { readonly shared?: AuditEntry['details'] },
): Query<boolean> {
  return {
    name: 'insert_personal_audit_entry',
    text: insertText(`select $1::text, $2::text, $3::timestamptz, 'user', $1::text, $4::text, $5::text, $6::jsonb
      from users where id = $1::text and joined_at is not null
      union all
      select workspace_id, $2::text, $3::timestamptz, 'user', $1::text, $4::text, null, $7::jsonb
      from members where user_id = $1::text`),
    values: [
      userId,
      createId('auditEntry', createdAt),
      createdAt,
      action,
      subject,
      JSON.stringify(details),
      JSON.stringify(shared),
    ],
    read: changed,
  }
}

/** Which entries of a log are listed. A null sets no condition. */
export interface AuditScan {
  readonly logId: string
  /** The lowest id to return. It need not be the id of an entry. */
  readonly from: string
  /** All returned ids are lower than this. It need not be the id of an entry. */
  readonly below: string
  /** An actor's id, or a kind of actor. */
  readonly actor: string | null
  readonly actions: readonly AuditAction[] | null
  readonly limit: number
  readonly scanRowsMax: number
}

/** Lists the entries of a log that match, newest first. Uses the primary key. */
export function listAuditEntries(scan: AuditScan): Query<Scanned<AuditEntry>> {
  const { logId, from, below, actor, actions, limit, scanRowsMax } = scan
  return {
    name: 'list_audit_entries',
    text: scanText({
      columns: COLUMNS,
      table: 'audit_entries',
      range: 'log_id = $1 and id >= $2 and id < $3',
      filter: `($4::text is null or actor_id = $4 or actor_kind = $4) and ($5::text[] is null or action = any($5))`,
      limit: '$6',
      scanRowsMax: '$7',
    }),
    values: [logId, from, below, actor, actions, limit, scanRowsMax],
    read: readScan(ENTRY_ROW, toEntry),
  }
}

type EntryRow = RowOf<typeof ENTRY_ROW>

function toEntry(row: EntryRow): AuditEntry {
  return {
    logId: row.log_id,
    id: row.id,
    createdAt: row.created_at,
    actor: toActor(row),
    action: row.action,
    subject: row.subject,
    details: row.details,
  }
}

/** A check constraint makes sure that every actor except the operator has an id. */
function toActor({ actor_kind: kind, actor_id: id }: EntryRow): Actor {
  if (kind === 'operator') return { kind }
  if (id === null) throw new Error(`an audit entry's ${kind} has no id`)
  return { kind, id }
}
