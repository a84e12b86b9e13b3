import { randomBytes } from 'node:crypto'
import type { Transaction } from '../../db/transaction.ts'
import { createId } from '../../values/ids.ts'
import { checkName } from '../../values/name.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import type { Plan } from '../plans/plan.ts'
import { slugOf, type Account } from './account.ts'
import { insertAccount } from './accounts-store.ts'

const SLUG_ATTEMPTS_MAX = 5
const SLUG_SUFFIX_BYTES = 3

export interface NewAccount {
  readonly name: string
  readonly plan: Plan
  readonly actor: Actor
}

/**
 * Creates a workspace, whose creator is the actor if that is a person. Its slug is made from its name. If another workspace has that slug, a random suffix is appended.
 */
export async function createAccount(ctx: Pick<Context, 'db' | 'clock'>, request: NewAccount): Promise<Account> {
  const createdAt = ctx.clock.now()
  return await ctx.db.transaction((transaction) => createAccountIn(transaction, { ...request, createdAt }))
}

/** Does the same as `createAccount`, but inside a transaction that the caller commits. */
export async function createAccountIn(
  transaction: Transaction,
  { name: text, plan, actor, createdAt }: NewAccount & { readonly createdAt: Date },
): Promise<Account> {
  const name = checkName(text)
  for (let attempt = 1; attempt <= SLUG_ATTEMPTS_MAX; attempt += 1) {
    const suffix = attempt === 1 ? '' : `-${randomBytes(SLUG_SUFFIX_BYTES).toString('hex')}`
    const account = {
      id: createId('account', createdAt),
      slug: slugOf(name) + suffix,
      name,
      plan,
      createdAt,
      createdBy: actor.kind === 'user' ? actor.id : null,
    }
    if (!(await transaction.run(insertAccount(account)))) continue
    const details = { slug: account.slug, name, plan }
    const entry = { logId: account.id, createdAt, actor, action: 'workspace.created', details } as const
    await transaction.run(insertAuditEntry({ ...entry, subject: account.id }))
    return account
  }
  throw new Error('no free slug was found')
}
