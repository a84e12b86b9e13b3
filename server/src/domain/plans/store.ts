import { changed, firstOrNull, type Query } from '../../db/query.ts'

/** Makes the month's row, so that it can be locked. */
export function ensureAllowance(accountId: string, month: string): Query<boolean> {
  return {
    name: 'ensure_allowance',
    text: 'insert into allowances (account_id, month) values ($1, $2) on conflict do nothing',
    values: [accountId, month],
    read: changed,
  }
}

/** Takes the lock under which the month's allowance is exact, and reads how much of it is used. By the primary key. */
export function lockAllowance(accountId: string, month: string): Query<number | null> {
  return {
    name: 'lock_allowance',
    text: 'select used from allowances where account_id = $1 and month = $2 for update',
    values: [accountId, month],
    read: firstOrNull((row) => Number(row['used'])),
  }
}

/** Never below zero: a correction of the count may have come in between. */
export function addToAllowance(accountId: string, month: string, count: 1 | -1): Query<boolean> {
  return {
    name: 'add_to_allowance',
    text: 'update allowances set used = greatest(used + $3, 0) where account_id = $1 and month = $2',
    values: [accountId, month, count],
    read: changed,
  }
}

export function setAllowance(accountId: string, month: string, used: number): Query<boolean> {
  return {
    name: 'set_allowance',
    text: `insert into allowances (account_id, month, used) values ($1, $2, $3)
      on conflict (account_id, month) do update set used = excluded.used`,
    values: [accountId, month, used],
    read: changed,
  }
}
