import type { Context } from '../context.ts'
import { countUnusedCodes } from './passkeys-store.ts'

/** How many recovery codes a person has left. */
export async function countRecoveryCodes(ctx: Pick<Context, 'db'>, { userId }: { userId: string }): Promise<number> {
  return await ctx.db.runRelaxed(countUnusedCodes(userId))
}
