import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { getGrant } from './get-grant.ts'
import type { Grant, GrantAction, WalletSigner } from './grant.ts'
import { readBack } from './read-back.ts'
import { recordChange } from './record-change.ts'
import { findHandedIn, issuedAt } from './signing-request.ts'
import type { SignerHold } from './with-signer-change.ts'

/**
 * Records what is found at the enclave already. What was signed is the doing of who handed it in, not of the one who
 * finds it; an activation of which that is not known is nobody's. Nor does it lift a suspension that came after it.
 * An activation is compared with the enclave's record, as one that was just signed is (D15). Errors: 500
 * `enclave_record_differs`.
 */
export async function reconcileGrant(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'enclave' | 'logger'>,
  hold: SignerHold,
  found: { grant: Grant; change: GrantAction; signers: readonly WalletSigner[]; finder: Actor },
): Promise<Grant> {
  const { change, signers, finder } = found
  const grant = await getGrant(ctx, { accountId: found.grant.accountId, grantId: found.grant.id })
  const signed = findHandedIn(grant, change)
  if (change === 'activate') await readBack(ctx, { grant, wallet: hold.wallet, change, signers })
  const actor = signed?.handed_in_by ?? (change === 'activate' ? OPERATOR : finder)
  const signedSince = signed === null ? new Date(0) : issuedAt(signed)
  return await recordChange(ctx, hold, { grant, change, signers, actor, signedSince })
}
