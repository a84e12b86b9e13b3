import type { AuthenticationResponseJSON } from '@simplewebauthn/server'
import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import { problem } from '../../values/problem.ts'
import type { Actor } from '../audit/audit-entry.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { keepSignature } from '../owner-signatures/keep-signature.ts'
import { checkOwnerSignature } from '../wallets/owner-passkey.ts'
import { saveRecordAssertion } from '../wallets/wallet-owners-store.ts'
import { getWalletRecord } from './get-wallet-record.ts'

/**
 * Stores the signature with which an owner confirmed a wallet's record. With this signature, the signer page knows what
 * belongs to the wallet whenever this owner signs. The owner may sign the record again. The later signature replaces
 * the earlier one here, but not among the signatures that are kept as evidence (D78).
 *
 * Errors: 400 `signature_invalid`; 404 `wallet_not_found`, `owner_not_found`; 409
 * `signing_request_stale`, `signer_not_configured`.
 */
export async function signWalletRecord(
  ctx: Pick<Context, 'db' | 'clock' | 'enclave' | 'logger' | 'sealer' | 'signer'>,
  {
    workspaceId,
    mode,
    address,
    assertion,
    actor,
  }: { workspaceId: string; mode: Mode; address: Address; assertion: AuthenticationResponseJSON; actor: Actor },
): Promise<void> {
  const { wallet, statement } = await getWalletRecord(ctx, { workspaceId, mode, address })
  // The statement contains no time, so the signature may be older than other uses of the passkey.
  const requestedAt = wallet.createdAt
  const signature = await checkOwnerSignature(ctx, { wallet, challenge: statement, requestedAt, assertion })
  const createdAt = ctx.clock.now()
  await ctx.db.transaction(async (transaction) => {
    const isOwner = await transaction.run(saveRecordAssertion(wallet, assertion.id, signature.assertion))
    // The owner was removed after the signature had been checked.
    if (!isOwner) throw problem('owner_not_found')
    const details = { mode, credential_id: assertion.id }
    const entry = { logId: workspaceId, createdAt, actor, action: 'wallet.record_signed', details } as const
    await transaction.commit([
      insertAuditEntry({ ...entry, subject: address }),
      keepSignature(ctx, signature, {
        ...{ workspaceId, mode, actor, kind: 'record', subject: address, usableUntil: null, statement: null },
      }),
    ])
  })
}
