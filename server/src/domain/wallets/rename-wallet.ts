import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { checkName } from '../../values/name.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { renameWalletRow } from './wallets-store.ts'

/**
 * Gives a wallet another name. Does nothing if it has this name already.
 *
 * Errors: 400 for a name that is not allowed; 404 `wallet_not_found`.
 */
export async function renameWallet(
  ctx: Pick<Context, 'db' | 'clock'>,
  wanted: { workspaceId: string; mode: Mode; address: Address; name: string; actor: Actor },
): Promise<void> {
  const { workspaceId, mode, address, actor } = wanted
  const name = checkName(wanted.name)
  const createdAt = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const before = await transaction.run(renameWalletRow(workspaceId, mode, address, name))
    if (before === null) throw problem('wallet_not_found')
    if (before === name) return
    const details = { mode, name, before }
    const entry = { logId: workspaceId, createdAt, actor, action: 'wallet.renamed', details } as const
    await transaction.commit([insertAuditEntry({ ...entry, subject: address })])
  })
}
