import { changed, firstOrNull, type Query, type Row } from '../../db/query.ts'
import { isPlan, type Plan } from '../plans/plan.ts'
import type { Account } from './account.ts'

const COLUMNS = 'id, slug, name, plan, created_at'

/** Inserts an account unless its slug is taken; answers whether it did. */
export function insertAccount(account: Account): Query<boolean> {
  return {
    name: 'insert_account',
    text: `insert into accounts (${COLUMNS}) values ($1, $2, $3, $4, $5) on conflict (slug) do nothing`,
    values: [account.id, account.slug, account.name, account.plan, account.createdAt],
    read: changed,
  }
}

export function findAccountBySlug(slug: string): Query<Account | null> {
  return {
    name: 'find_account_by_slug',
    text: `select ${COLUMNS} from accounts where slug = $1`,
    values: [slug],
    read: firstOrNull(toAccount),
  }
}

/** Takes the account's lock, under which the plan's caps on agents and wallets are exact. */
export function lockAccount(accountId: string): Query<Account | null> {
  return {
    name: 'lock_account',
    text: `select ${COLUMNS} from accounts where id = $1 for no key update`,
    values: [accountId],
    read: firstOrNull(toAccount),
  }
}

export function updatePlan(accountId: string, plan: Plan): Query<boolean> {
  return {
    name: 'update_plan',
    text: 'update accounts set plan = $2 where id = $1',
    values: [accountId, plan],
    read: changed,
  }
}

function toAccount(row: Row): Account {
  return {
    id: row['id'],
    slug: row['slug'],
    name: row['name'],
    plan: toPlan(row['plan']),
    createdAt: row['created_at'],
  }
}

export function toPlan(text: string): Plan {
  if (!isPlan(text)) throw new Error(`unknown plan ${text}`)
  return text
}
