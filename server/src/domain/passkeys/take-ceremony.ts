import { problem } from '../../values/problem.ts'
import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import type { Ceremony, CeremonyKind } from './ceremony.ts'
import { takeCeremonyRow } from './passkeys-store.ts'

/**
 * Deletes the challenge to which the browser responds, and returns it. So the challenge cannot be used again, even if
 * the response is invalid.
 *
 * Errors: 400 `ceremony_expired` if the challenge is unknown, already used or expired, or was created for another
 * purpose or another user.
 */
export async function takeCeremony(
  ctx: Pick<Context, 'db' | 'clock'>,
  { secret, kind, userId = null }: { secret: string; kind: CeremonyKind; userId?: string | null },
): Promise<Ceremony> {
  const known = isSecret(SECRET_PREFIXES.ceremony, secret)
  const ceremony = known ? await ctx.db.write(takeCeremonyRow(hashSecret(secret))) : null
  if (ceremony === null || ceremony.kind !== kind || ceremony.userId !== userId) throw problem('ceremony_expired')
  if (ctx.clock.now() >= ceremony.expiresAt) throw problem('ceremony_expired')
  return ceremony
}
