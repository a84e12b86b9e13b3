import { listOf, pick, type RowOf } from '../../db/column.ts'
import { changed, firstOrNull, type Query } from '../../db/query.ts'
import { tables } from '../../db/tables.ts'
import { isPlan, type Plan } from '../plans/plan.ts'
import type { Account } from './account.ts'

const ACCOUNT_ROW = pick(tables.accounts, 'id', 'slug', 'name', 'plan', 'created_at', 'created_by')
const COLUMNS = listOf(ACCOUNT_ROW)

/** Inserts a workspace unless its slug is taken. Returns whether it was inserted. */
export function insertAccount(account: Account): Query<boolean> {
  return {
    name: 'insert_account',
    text: `insert into accounts (${COLUMNS}) values ($1, $2, $3, $4, $5, $6) on conflict (slug) do nothing`,
    values: [account.id, account.slug, account.name, account.plan, account.createdAt, account.createdBy],
    read: changed,
  }
}

export function findAccountBySlug(slug: string): Query<Account | null> {
  return {
    name: 'find_account_by_slug',
    text: `select ${COLUMNS} from accounts where slug = $1`,
    values: [slug],
    read: firstOrNull(ACCOUNT_ROW, toAccount),
  }
}

/**
 * Locks and returns the workspace. Changes that check a limit, such as the plan's limit on agents, take this lock
 * first, so that the limit is exact.
 */
export function lockAccount(accountId: string): Query<Account | null> {
  return {
    name: 'lock_account',
    text: `select ${COLUMNS} from accounts where id = $1 for no key update`,
    values: [accountId],
    read: firstOrNull(ACCOUNT_ROW, toAccount),
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

function toAccount(row: RowOf<typeof ACCOUNT_ROW>): Account {
  return {
    id: row.id,
    slug: row.slug,
    name: row.name,
    plan: toPlan(row.plan),
    createdAt: row.created_at,
    createdBy: row.created_by,
  }
}

export function toPlan(text: string): Plan {
  if (!isPlan(text)) throw new Error(`unknown plan ${text}`)
  return text
}
