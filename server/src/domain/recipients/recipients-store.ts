import { all, changed, firstOrNull, type Query, type Row } from '../../db/query.ts'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { Recipient } from './recipient.ts'

const COLUMNS = 'account_id, mode, address, label, created_at'

/** By the primary key, as all of these. */
export function findRecipient(accountId: string, mode: Mode, address: Address): Query<Recipient | null> {
  return {
    name: 'find_recipient',
    text: `select ${COLUMNS} from recipients where account_id = $1 and mode = $2 and address = $3`,
    values: [accountId, mode, address],
    read: firstOrNull(toRecipient),
  }
}

export function countRecipients(accountId: string, mode: Mode): Query<number> {
  return {
    name: 'count_recipients',
    text: 'select count(*) as recipients from recipients where account_id = $1 and mode = $2',
    values: [accountId, mode],
    read: (rows) => Number(rows[0]?.['recipients']),
  }
}

/** In the order of the labels, whatever their case. */
export function listRecipientRows(accountId: string, mode: Mode, limit: number): Query<Recipient[]> {
  return {
    name: 'list_recipients',
    text: `select ${COLUMNS} from recipients where account_id = $1 and mode = $2
      order by lower(label), label, address limit $3`,
    values: [accountId, mode, limit],
    read: all(toRecipient),
  }
}

/** One that is there gets the other label. */
export function keepRecipient({ accountId, mode, address, label, createdAt }: Recipient): Query<boolean> {
  return {
    name: 'keep_recipient',
    text: `insert into recipients (${COLUMNS}) values ($1, $2, $3, $4, $5)
      on conflict (account_id, mode, address) do update set label = excluded.label`,
    values: [accountId, mode, address, label, createdAt],
    read: changed,
  }
}

/** Answers the label that it had; the second caller gets nothing. */
export function takeRecipient(accountId: string, mode: Mode, address: Address): Query<string | null> {
  return {
    name: 'take_recipient',
    text: 'delete from recipients where account_id = $1 and mode = $2 and address = $3 returning label',
    values: [accountId, mode, address],
    read: firstOrNull((row) => row['label'] as string),
  }
}

function toRecipient(row: Row): Recipient {
  return {
    accountId: row['account_id'],
    mode: row['mode'],
    address: row['address'] as Address,
    label: row['label'],
    createdAt: row['created_at'],
  }
}
