import { checkName } from '../../values/name.ts'
import { Problem } from '../../values/problem.ts'
import { insertPersonalEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { renamePasskeyRow } from './passkeys-store.ts'

/**
 * Gives one of a user's sign-in passkeys another name. Does nothing if it has this name already.
 *
 * Errors: 400 for a name that is not allowed; 404 if the user does not have this passkey.
 */
export async function renamePasskey(
  ctx: Pick<Context, 'db' | 'clock'>,
  { userId, credentialId, name: text }: { userId: string; credentialId: string; name: string },
): Promise<void> {
  const name = checkName(text)
  const createdAt = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const before = await transaction.run(renamePasskeyRow(userId, credentialId, name))
    if (before === null) throw new Problem('not_found', 'You do not have this passkey.')
    if (before === name) return
    const entry = { createdAt, action: 'passkey.renamed', subject: credentialId, details: { name, before } } as const
    await transaction.commit([insertPersonalEntry(userId, entry)])
  })
}
