import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { getGrant } from './queries.ts'
import type { Grant, GrantChange, WalletSigner } from './grant.ts'
import { checkEnclaveRecord } from './check-enclave-record.ts'
import { recordChange } from './record-change.ts'
import { findSubmittedRequest, issuedAt } from './signing-request.ts'
import type { SignerLease } from './with-signer-lease.ts'

/**
 * Records what is found at the enclave already. What was signed is the doing of who handed it in, not of the one who
 * finds it; an activation of which that is not known is nobody's. Nor does it lift a suspension that came after it.
 * An activation is compared with the enclave's record, as one that was just signed is (D15). Errors: 500
 * `enclave_record_differs`.
 */
export async function reconcileGrant(
  ctx: Pick<Context, 'db' | 'clock' | 'chains' | 'enclave' | 'logger'>,
  lease: SignerLease,
  found: { grant: Grant; change: GrantChange; signers: readonly WalletSigner[]; foundBy: Actor },
): Promise<Grant> {
  const { change, signers, foundBy } = found
  const grant = await getGrant(ctx, { accountId: found.grant.accountId, grantId: found.grant.id })
  const signed = findSubmittedRequest(grant, change)
  if (change === 'activate') await checkEnclaveRecord(ctx, { grant, wallet: lease.wallet, change, signers })
  const actor = signed?.handed_in_by ?? (change === 'activate' ? OPERATOR : foundBy)
  const signedSince = signed === null ? new Date(0) : issuedAt(signed)
  return await recordChange(ctx, lease, { grant, change, signers, actor, signedSince })
}
