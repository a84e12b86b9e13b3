import type { Context } from '../context.ts'
import { listPasskeyRows } from './passkeys-store.ts'
import type { Passkey } from './passkey.ts'

/** A person's passkeys, oldest first. */
export async function listPasskeys(ctx: Pick<Context, 'db'>, { userId }: { userId: string }): Promise<Passkey[]> {
  return await ctx.db.runRelaxed(listPasskeyRows(userId))
}
