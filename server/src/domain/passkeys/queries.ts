import type { Context } from '../context.ts'
import type { Passkey } from './passkey.ts'
import { countUnusedCodes, listPasskeyRows } from './passkeys-store.ts'

/** Lists a user's passkeys, oldest first. */
export async function listPasskeys(ctx: Pick<Context, 'db'>, { userId }: { userId: string }): Promise<Passkey[]> {
  return await ctx.db.read(listPasskeyRows(userId))
}

/** Returns how many unused recovery codes a user has. */
export async function countRecoveryCodes(ctx: Pick<Context, 'db'>, { userId }: { userId: string }): Promise<number> {
  return await ctx.db.read(countUnusedCodes(userId))
}
