import { Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { Account } from './account.ts'
import { findAccountBySlug } from './accounts-store.ts'

/** Returns the workspace with this slug, or throws 404 `not_found`. */
export async function getAccount(ctx: Pick<Context, 'db'>, slug: string): Promise<Account> {
  const account = await ctx.db.read(findAccountBySlug(slug))
  if (account === null) throw new Problem('not_found', 'There is no workspace with this slug.')
  return account
}
