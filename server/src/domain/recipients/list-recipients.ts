import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { SAVED_RECIPIENTS_MAX, type Recipient } from './recipient.ts'
import { listRecipientRows } from './recipients-store.ts'

/** Lists the labeled recipients of the workspace and mode, ordered by label. */
export async function listRecipients(
  ctx: Pick<Context, 'db'>,
  { workspaceId, mode }: { workspaceId: string; mode: Mode },
): Promise<Recipient[]> {
  return await ctx.db.readSlow(listRecipientRows(workspaceId, mode, SAVED_RECIPIENTS_MAX), workspaceId)
}
