import { createSecret, hashSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { CEREMONY_MS, type Ceremony } from './ceremony.ts'
import { insertCeremony } from './passkeys-store.ts'

/**
 * Stores a challenge until the browser responds or the challenge expires. Returns a secret that the browser must send
 * with its response.
 */
export async function openCeremony(
  ctx: Pick<Context, 'db' | 'clock'>,
  ceremony: Omit<Ceremony, 'expiresAt'>,
): Promise<string> {
  const secret = createSecret(SECRET_PREFIXES.ceremony)
  const expiresAt = new Date(ctx.clock.now().getTime() + CEREMONY_MS)
  // If a power failure loses the challenge, the user must start again.
  await ctx.db.write(insertCeremony(hashSecret(secret), { ...ceremony, expiresAt }), { mayBeLost: true })
  return secret
}
