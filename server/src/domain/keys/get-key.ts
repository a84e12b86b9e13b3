import { isId } from '../../values/ids.ts'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { KeySummary } from './api-key.ts'
import { findKeySummary } from './keys-store.ts'

/** A key of the workspace, usable or not, or 404 `key_not_found`. */
export async function getKey(
  ctx: Pick<Context, 'db'>,
  { accountId, id }: { accountId: string; id: string },
): Promise<KeySummary> {
  const key = isId('key', id) ? await ctx.db.runRelaxed(findKeySummary(accountId, id)) : null
  if (key === null) throw problem('key_not_found')
  return key
}
