import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { RECIPIENTS_MAX, type Recipient } from './recipient.ts'
import { listRecipientRows } from './store.ts'

/** The labeled recipients of an (account, mode), by their labels. */
export async function listRecipients(
  ctx: Pick<Context, 'db'>,
  { accountId, mode }: { accountId: string; mode: Mode },
): Promise<Recipient[]> {
  return await ctx.db.readLarge(listRecipientRows(accountId, mode, RECIPIENTS_MAX))
}
