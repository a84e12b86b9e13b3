import { createSecret, hashSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { CEREMONY_MS, type Ceremony } from './ceremony.ts'
import { insertCeremony } from './passkeys-store.ts'

/** Keeps a challenge until it is answered, or its time is over; answers the secret by which the answer finds it. */
export async function openCeremony(
  ctx: Pick<Context, 'db' | 'clock'>,
  ceremony: Omit<Ceremony, 'expiresAt'>,
): Promise<string> {
  const secret = createSecret(SECRET_PREFIXES.ceremony)
  const expiresAt = new Date(ctx.clock.now().getTime() + CEREMONY_MS)
  // One that a power cut undoes is begun again.
  await ctx.db.runRelaxed(insertCeremony(hashSecret(secret), { ...ceremony, expiresAt }))
  return secret
}
