import type { WalletSigner } from '../../enclave/signer-change.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { getGrant } from './queries.ts'
import type { Grant, GrantChange } from './grant.ts'
import { checkEnclaveRecord } from './check-enclave-record.ts'
import { recordChange } from './record-change.ts'
import { findSubmittedRequest, issuedAt } from './signing-request.ts'
import type { SignerLease } from './with-signer-lease.ts'

/**
 * Records a change that the enclave turns out to have made already. The change is attributed to the user who submitted
 * the owner's signature, not to the one who discovers it. An activation whose submitter is unknown is attributed to the
 * operator. A suspension that came after the signature stays in force.
 *
 * An activation is compared with the enclave's record, as after a new signature (D15). Errors: 500
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
