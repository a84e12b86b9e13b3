import { checkName } from '../../values/name.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { findKey, type KeyReference } from './queries.ts'
import { renameKeyRow } from './keys-store.ts'

/**
 * Gives an API key another name, also if it no longer works. Does nothing if it has this name already.
 *
 * Errors: 400 for a name that is not allowed; 404 `key_not_found`.
 */
export async function renameKey(
  ctx: Pick<Context, 'db' | 'clock'>,
  { actor, name: text, ...reference }: KeyReference & { name: string; actor: Actor },
): Promise<void> {
  const name = checkName(text)
  const key = await findKey(ctx, reference)
  if (key === null) throw problem('key_not_found')
  const { workspaceId, id, mode } = key
  const createdAt = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const before = await transaction.run(renameKeyRow(workspaceId, id, name))
    if (before === name) return
    const details = { mode, name, before }
    const entry = { logId: workspaceId, createdAt, actor, action: 'key.renamed', details } as const
    await transaction.commit([insertAuditEntry({ ...entry, subject: id })])
  })
}
