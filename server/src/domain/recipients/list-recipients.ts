import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { SAVED_RECIPIENTS_MAX, type Recipient } from './recipient.ts'
import { listRecipientRows } from './recipients-store.ts'

/** The labeled recipients of an (account, mode), by their labels. */
export async function listRecipients(
  ctx: Pick<Context, 'db'>,
  { accountId, mode }: { accountId: string; mode: Mode },
): Promise<Recipient[]> {
  return await ctx.db.runSlow(listRecipientRows(accountId, mode, SAVED_RECIPIENTS_MAX))
}
