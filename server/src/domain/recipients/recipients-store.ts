import { computed, listOf, narrow, pick, type RowOf } from '../../db/column.ts'
import { all, changed, firstOrNull, one, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Recipient } from './recipient.ts'

const { recipients } = tables

const RECIPIENT_ROW = {
  ...pick(recipients, 'workspace_id', 'mode'),
  address: narrow<Address>(recipients.address),
  ...pick(recipients, 'label', 'created_at'),
}

const COLUMNS = listOf(RECIPIENT_ROW)

/** Uses the primary key, as every statement in this file does. */
export function findRecipient(workspaceId: string, mode: Mode, address: Address): Query<Recipient | null> {
  return {
    name: 'find_recipient',
    text: `select ${COLUMNS} from recipients where workspace_id = $1 and mode = $2 and address = $3`,
    values: [workspaceId, mode, address],
    read: firstOrNull(RECIPIENT_ROW, toRecipient),
  }
}

export function countRecipients(workspaceId: string, mode: Mode): Query<number> {
  return {
    name: 'count_recipients',
    text: 'select count(*) as recipients from recipients where workspace_id = $1 and mode = $2',
    values: [workspaceId, mode],
    read: one({ recipients: computed.int8 }, (row) => Number(row.recipients)),
  }
}

/** Lists recipients ordered by label, ignoring case. */
export function listRecipientRows(workspaceId: string, mode: Mode, limit: number): Query<Recipient[]> {
  return {
    name: 'list_recipients',
    text: `select ${COLUMNS} from recipients where workspace_id = $1 and mode = $2
      order by lower(label), label, address limit $3`,
    values: [workspaceId, mode, limit],
    read: all(RECIPIENT_ROW, toRecipient),
  }
}

/** Inserts a recipient, or changes the label of an existing one. */
export function saveRecipient({ workspaceId, mode, address, label, createdAt }: Recipient): Query<boolean> {
  return {
    name: 'save_recipient',
    text: `insert into recipients (${COLUMNS}) values ($1, $2, $3, $4, $5)
      on conflict (workspace_id, mode, address) do update set label = excluded.label`,
    values: [workspaceId, mode, address, label, createdAt],
    read: changed,
  }
}

/** Deletes a recipient and returns its label. A second caller gets null. */
export function takeRecipient(workspaceId: string, mode: Mode, address: Address): Query<string | null> {
  return {
    name: 'take_recipient',
    text: 'delete from recipients where workspace_id = $1 and mode = $2 and address = $3 returning label',
    values: [workspaceId, mode, address],
    read: firstOrNull(pick(recipients, 'label'), (row) => row.label),
  }
}

function toRecipient(row: RowOf<typeof RECIPIENT_ROW>): Recipient {
  return {
    workspaceId: row.workspace_id,
    mode: row.mode,
    address: row.address,
    label: row.label,
    createdAt: row.created_at,
  }
}
