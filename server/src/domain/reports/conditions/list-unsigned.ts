import type { Mode } from '../../../values/mode.ts'
import type { Context } from '../../context.ts'
import { UNSIGNED_READ_MAX, type UnsignedGrant } from './conditions.ts'
import { listUnsignedGrants } from './facts-store.ts'

/** Lists the grants that wait for an owner's signature, and says which of them the user can sign. */
export async function listUnsigned(
  ctx: Pick<Context, 'db' | 'clock'>,
  { workspaceId, mode, userId }: { readonly workspaceId: string; readonly mode: Mode; readonly userId: string },
): Promise<UnsignedGrant[]> {
  return await ctx.db.read(
    listUnsignedGrants({ workspaceId, mode }, { userId, limit: UNSIGNED_READ_MAX, now: ctx.clock.now() }),
  )
}
