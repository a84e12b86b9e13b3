import { listOf, pick, type RowOf } from '../../db/column.ts'
import { changed, firstOrNull, rowsOf, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Mode } from '../../values/mode.ts'
import type { PaymentNote } from './payment-note.ts'

const { payment_notes: notes } = tables

const NOTE_ROW = pick(notes, 'payment_id', 'note', 'category', 'link')
const COLUMNS = listOf(NOTE_ROW)

/** Finds the note of a payment. Uses the primary key, as every statement in this file does. */
export function findPaymentNote(workspaceId: string, paymentId: string): Query<PaymentNote | null> {
  return {
    name: 'find_payment_note',
    text: `select ${COLUMNS} from payment_notes where workspace_id = $1 and payment_id = $2`,
    values: [workspaceId, paymentId],
    read: firstOrNull(NOTE_ROW, toNote),
  }
}

/** Finds the notes of some payments, by the payments' ids. */
export function listNotesOf(
  workspaceId: string,
  paymentIds: readonly string[],
): Query<ReadonlyMap<string, PaymentNote>> {
  return {
    name: 'list_notes_of',
    text: `select ${COLUMNS} from payment_notes where workspace_id = $1 and payment_id = any($2)`,
    values: [workspaceId, paymentIds],
    read: rowsOf(NOTE_ROW, (rows) => new Map(rows.map((row) => [row.payment_id, toNote(row)]))),
  }
}

/** Stores the note of a payment, instead of an earlier one. */
export function storePaymentNote(
  { workspaceId, mode, paymentId }: { workspaceId: string; mode: Mode; paymentId: string },
  { note, category, link }: PaymentNote,
  now: Date,
): Query<boolean> {
  return {
    name: 'store_payment_note',
    text: `insert into payment_notes (workspace_id, mode, payment_id, note, category, link, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (workspace_id, payment_id) do update set note = excluded.note, category = excluded.category,
        link = excluded.link, updated_at = excluded.updated_at`,
    values: [workspaceId, mode, paymentId, note, category, link, now],
    read: changed,
  }
}

export function deletePaymentNote(workspaceId: string, paymentId: string): Query<boolean> {
  return {
    name: 'delete_payment_note',
    text: 'delete from payment_notes where workspace_id = $1 and payment_id = $2',
    values: [workspaceId, paymentId],
    read: changed,
  }
}

function toNote({ note, category, link }: RowOf<typeof NOTE_ROW>): PaymentNote {
  return { note, category, link }
}
