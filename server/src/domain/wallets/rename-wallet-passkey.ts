import { checkName } from '../../values/name.ts'
import { problem } from '../../values/problem.ts'
import { insertPersonalEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { renameWalletPasskeyRow } from './wallet-passkeys-store.ts'

/**
 * Gives one of a user's wallet passkeys another name. Does nothing if it has this name already.
 *
 * Errors: 400 for a name that is not allowed; 404 `passkey_not_found`.
 */
export async function renameWalletPasskey(
  ctx: Pick<Context, 'db' | 'clock'>,
  { userId, credentialId, name: text }: { userId: string; credentialId: string; name: string },
): Promise<void> {
  const name = checkName(text)
  const createdAt = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const before = await transaction.run(renameWalletPasskeyRow(userId, credentialId, name))
    if (before === null) throw problem('passkey_not_found')
    if (before === name) return
    const details = { name, before }
    const entry = { createdAt, action: 'wallet_passkey.renamed', subject: credentialId, details } as const
    await transaction.commit([insertPersonalEntry(userId, entry)])
  })
}
