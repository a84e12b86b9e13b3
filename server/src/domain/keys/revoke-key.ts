import { hashSecret } from '../../values/api-key.ts'
import { Problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import { revokeKeyRow } from './store.ts'

/** Revokes a key at once: the very next request with it, at any process, is 401. An unknown key is 404. */
export async function revokeKey(ctx: Pick<Context, 'db' | 'clock'>, { secret }: { secret: string }): Promise<void> {
  const key = await ctx.db.write(revokeKeyRow(hashSecret(secret), ctx.clock.now()))
  if (key === null) throw new Problem('not_found', 'No such key.')
}
