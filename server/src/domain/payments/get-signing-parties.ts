import { grantExpired, problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'
import type { Payment } from './payment.ts'
import { findSigningGrant, type SigningParties } from './signing-store.ts'

/**
 * Returns the wallet and the key that sign a payment that was reserved earlier. Throws if its grant was suspended or
 * revoked, or has expired, since then. Errors: 404 `permission_not_found`, 403 `permission_expired`.
 */
export async function getSigningParties(ctx: Pick<Context, 'db' | 'clock'>, payment: Payment): Promise<SigningParties> {
  const grant = await ctx.db.read(findSigningGrant(payment))
  if (grant.missing !== null) throw problem('permission_not_found', { details: { reason: grant.missing } })
  if (grant.expiresAt !== null && ctx.clock.now() >= grant.expiresAt) throw grantExpired(grant.expiresAt)
  return grant
}
