import type { Mode } from '../../values/mode.ts'
import type { Context } from '../context.ts'
import { ERRORS_LISTED_MAX, type ConnectionError } from './connection-error.ts'
import { listErrorRows } from './connection-errors-store.ts'

/**
 * Lists the last errors of a workspace's connections in one mode, newest first, `ERRORS_LISTED_MAX` at most (D73a). An
 * error is left out if the same user has since connected the same client again.
 */
export async function listConnectionErrors(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode }: { workspaceId: string; mode: Mode },
): Promise<ConnectionError[]> {
  return await ctx.db.read(listErrorRows({ workspaceId, mode, now: ctx.clock.now(), limit: ERRORS_LISTED_MAX }))
}
