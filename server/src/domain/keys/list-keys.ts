import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { KEYS_LISTED_MAX, type KeySummary } from './api-key.ts'
import { listKeySummaries } from './keys-store.ts'

/** The keys of an (account, mode), the newest first, those that authenticate nobody any more last; the first 100. */
export async function listKeys(
  ctx: Pick<Context, 'db' | 'clock'>,
  { accountId, mode }: { accountId: string; mode: Mode },
): Promise<KeySummary[]> {
  return await ctx.db.runSlow(listKeySummaries(accountId, mode, ctx.clock.now(), KEYS_LISTED_MAX))
}
