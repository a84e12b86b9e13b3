import { createSecret, hashSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { CEREMONY_MS, type Ceremony } from './ceremony.ts'
import { insertCeremony } from './passkeys-store.ts'

/**
 * Stores a challenge until the browser responds or it expires. Returns the secret that the response is to be sent with.
 */
export async function openCeremony(
  ctx: Pick<Context, 'db' | 'clock'>,
  ceremony: Omit<Ceremony, 'expiresAt'>,
): Promise<string> {
  const secret = createSecret(SECRET_PREFIXES.ceremony)
  const expiresAt = new Date(ctx.clock.now().getTime() + CEREMONY_MS)
  // Not durable: if a power failure loses it, the user starts again.
  await ctx.db.runRelaxed(insertCeremony(hashSecret(secret), { ...ceremony, expiresAt }))
  return secret
}
