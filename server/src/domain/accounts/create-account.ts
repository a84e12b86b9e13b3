import { randomBytes } from 'node:crypto'
import type { Transaction } from '../../db/transaction.ts'
import { createId } from '../../values/ids.ts'
import { Problem } from '../../values/problem.ts'
import { isStorable } from '../../values/text.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/store.ts'
import type { Context } from '../context.ts'
import type { Plan } from '../plans/plan.ts'
import { ACCOUNT_NAME_CHARS_MAX, slugOf, type Account } from './account.ts'
import { insertAccount } from './store.ts'

const SLUG_ATTEMPTS_MAX = 5
const SLUG_SUFFIX_BYTES = 3

export interface NewAccount {
  readonly name: string
  readonly plan: Plan
  readonly actor?: Actor
}

/** Creates a workspace. Its slug is made of its name, with a few characters more where that one is taken. */
export async function createAccount(ctx: Pick<Context, 'db' | 'clock'>, request: NewAccount): Promise<Account> {
  const createdAt = ctx.clock.now()
  return await ctx.db.transaction((transaction) => createAccountIn(transaction, { ...request, createdAt }))
}

/** The same within a transaction, which is still to be committed. */
export async function createAccountIn(
  transaction: Transaction,
  { name, plan, actor = OPERATOR, createdAt }: NewAccount & { readonly createdAt: Date },
): Promise<Account> {
  const trimmed = name.trim()
  if (trimmed === '' || trimmed.length > ACCOUNT_NAME_CHARS_MAX || !isStorable(trimmed)) {
    throw new Problem('validation_failed', `name must have 1 to ${ACCOUNT_NAME_CHARS_MAX} characters.`)
  }
  for (let attempt = 1; attempt <= SLUG_ATTEMPTS_MAX; attempt += 1) {
    const suffix = attempt === 1 ? '' : `-${randomBytes(SLUG_SUFFIX_BYTES).toString('hex')}`
    const account = {
      id: createId('account', createdAt),
      slug: slugOf(trimmed) + suffix,
      name: trimmed,
      plan,
      createdAt,
    }
    if (!(await transaction.run(insertAccount(account)))) continue
    const details = { slug: account.slug, name: trimmed, plan }
    const entry = { logId: account.id, createdAt, actor, action: 'workspace.created', details } as const
    await transaction.run(insertAuditEntry({ ...entry, subject: account.id }))
    return account
  }
  throw new Error('no free slug was found')
}
