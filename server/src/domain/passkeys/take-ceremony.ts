import { problem } from '../../values/problem.ts'
import { hashSecret, isSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import type { Ceremony, CeremonyKind } from './ceremony.ts'
import { takeCeremonyRow } from './passkeys-store.ts'

/**
 * Takes the challenge that the browser responds to, so it cannot be used again even if the response is invalid.
 *
 * Errors: 400 `ceremony_expired` if it is unknown, already used or expired, or is for something else or for another
 * user.
 */
export async function takeCeremony(
  ctx: Pick<Context, 'db' | 'clock'>,
  { secret, kind, userId = null }: { secret: string; kind: CeremonyKind; userId?: string | null },
): Promise<Ceremony> {
  const known = isSecret(SECRET_PREFIXES.ceremony, secret)
  const ceremony = known ? await ctx.db.runDurable(takeCeremonyRow(hashSecret(secret))) : null
  if (ceremony === null || ceremony.kind !== kind || ceremony.userId !== userId) throw problem('ceremony_expired')
  if (ctx.clock.now() >= ceremony.expiresAt) throw problem('ceremony_expired')
  return ceremony
}
