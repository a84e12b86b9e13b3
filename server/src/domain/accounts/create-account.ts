import { randomBytes } from 'node:crypto'
import { createId } from '../../values/ids.ts'
import { Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { Plan } from '../plans/plan.ts'
import { ACCOUNT_NAME_CHARS_MAX, slugOf, type Account } from './account.ts'
import { insertAccount } from './store.ts'

const SLUG_ATTEMPTS_MAX = 5
const SLUG_SUFFIX_BYTES = 3

/** Creates a workspace. Its slug is made of its name, with a few characters more where that one is taken. */
export async function createAccount(
  ctx: Pick<Context, 'db' | 'clock'>,
  { name, plan }: { name: string; plan: Plan },
): Promise<Account> {
  const trimmed = name.trim()
  if (trimmed === '' || trimmed.length > ACCOUNT_NAME_CHARS_MAX) {
    throw new Problem('validation_failed', `name must have 1 to ${ACCOUNT_NAME_CHARS_MAX} characters.`)
  }
  const createdAt = ctx.clock.now()
  for (let attempt = 1; attempt <= SLUG_ATTEMPTS_MAX; attempt += 1) {
    const suffix = attempt === 1 ? '' : `-${randomBytes(SLUG_SUFFIX_BYTES).toString('hex')}`
    const account = {
      id: createId('account', createdAt),
      slug: slugOf(trimmed) + suffix,
      name: trimmed,
      plan,
      createdAt,
    }
    if (await ctx.db.write(insertAccount(account))) return account
  }
  throw new Error('no free slug was found')
}
