import type { SlotRules } from '../../enclave/enclave.ts'
import { OPERATOR, type Actor } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { issuedAt } from '../wallets/signing-fence.ts'
import type { WalletSlot } from '../wallets/wallet.ts'
import type { SignerLease } from '../wallets/with-signer-lease.ts'
import { getGrant } from './queries.ts'
import type { Grant, GrantChange, StoredSigningRequest } from './grant.ts'
import { rulesAsSigned } from './grant-rules.ts'
import { checkEnclaveRecord } from './check-enclave-record.ts'
import { recordChange } from './record-change.ts'

/**
 * Records a change of a grant that the enclave has already made and that we have not recorded yet. The change is
 * attributed to the user who submitted the owner's signature. If we do not know who that was, an activation is
 * attributed to the operator, and any other change to `foundBy`. If a replacement is activated, and the grant that it
 * replaces was suspended after the signature, the replacement is suspended too.
 *
 * For an activation, the enclave's record is checked first, as after every signature (D15). Errors: 500
 * `enclave_record_differs`.
 */
export async function reconcileGrant(
  ctx: Pick<Context, 'db' | 'clock' | 'enclave' | 'logger' | 'chains'>,
  lease: SignerLease,
  found: { grant: Grant; slot: WalletSlot; change: GrantChange; rules: SlotRules; foundBy: Actor },
): Promise<Grant> {
  const { slot, change, rules, foundBy } = found
  const grant = await getGrant(ctx, { workspaceId: found.grant.workspaceId, grantId: found.grant.id })
  const signed = findSubmittedRequest(grant, change)
  if (change === 'activate') {
    await checkEnclaveRecord(ctx, { grant, wallet: lease.wallet, slot, rules: rulesAsSigned(ctx, grant, rules) })
  }
  const actor = signed?.submittedBy ?? (change === 'activate' ? OPERATOR : foundBy)
  const signedSince = signed === null ? new Date(0) : issuedAt(signed)
  return await recordChange(ctx, lease, { grant, change, rules, actor, signedSince })
}

/**
 * Returns the request for this change whose signature was submitted, if its outcome was never recorded. Otherwise null.
 */
export function findSubmittedRequest({ signingRequest }: Grant, change: GrantChange): StoredSigningRequest | null {
  return signingRequest?.change === change && signingRequest.submittedBy !== null ? signingRequest : null
}
