import { checkName } from '../../values/name.ts'
import { insertPersonalEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { findUser, lockUser, renameUserRow } from './passkeys-store.ts'

/**
 * Changes the name under which a user's colleagues see them. The log of each of their workspaces records the old name
 * and the new one. Does nothing if the user has this name already.
 *
 * Errors: 400 for a name that is not allowed.
 */
export async function renameUser(
  ctx: Pick<Context, 'db' | 'clock'>,
  { userId, name: text }: { userId: string; name: string },
): Promise<void> {
  const name = checkName(text)
  const createdAt = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const [, before] = await transaction.batch([lockUser(userId), findUser(userId)])
    if (before === null || before.name === name) return
    const details = { name, before: before.name }
    await transaction.commit([
      renameUserRow(userId, name),
      insertPersonalEntry(userId, { createdAt, action: 'user.renamed', details, shared: details }),
    ])
  })
}
