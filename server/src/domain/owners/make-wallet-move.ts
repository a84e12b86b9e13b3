import { sameSigners, type WalletSigner } from '../../enclave/wallet-move.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import { problem } from '../../values/problem.ts'
import { recordStatusChange } from '../grants/record-status-change.ts'
import { revokeGrantsOfWallet } from '../grants/wallet-grants-store.ts'
import type { MoveDetails, OwnerRequest } from '../wallets/owner-request.ts'
import { insertOwner } from '../wallets/owners-store.ts'
import { insertSlots } from '../wallets/slots-store.ts'
import { markMoved } from '../wallets/wallet-owners-store.ts'
import { holdWalletPasskey } from '../wallets/wallet-passkeys-store.ts'
import type { Wallet } from '../wallets/wallet.ts'
import { findWallet } from '../wallets/wallets-store.ts'
import { checkAskerIsMember } from './check-asker-is-member.ts'
import type { EnclaveChange } from './enclave-change.ts'

export type MoveRequest = Extract<OwnerRequest, { readonly kind: 'move' }>

/**
 * The change that moves a wallet from a sign-in passkey to a quorum of wallet passkeys, and replaces the wallet's
 * signers with slots. The change also revokes the wallet's grants, because their signers are gone.
 */
export function makeWalletMove(
  { db, enclave }: Pick<Context, 'db' | 'enclave'>,
  { wallet, request }: { wallet: Wallet; request: MoveRequest },
): EnclaveChange {
  const { credential_id: credentialId, quorum_id: quorumId, signers_before: before, slots } = request.details
  const { accountId, mode, address, enclaveWalletId } = wallet
  const signers = listSlotSigners(slots)
  const move = { enclaveWalletId, ownerQuorumId: quorumId, signers, expiresAt: request.expiresAt }
  return {
    challenge: enclave.buildWalletMove(move).challenge,
    checkSigner: () => {},
    readState: async () => {
      const current = await enclave.readWallet(enclaveWalletId)
      if (current.ownerQuorumId === quorumId && sameSigners(current.signers, signers)) return 'after'
      const isBefore = current.ownerQuorumId === wallet.ownerQuorumId && sameSigners(current.signers, before)
      return isBefore ? 'before' : 'other'
    },
    isRecorded: async () => (await db.runRelaxed(findWallet(accountId, mode, address)))?.signInOwner === null,
    apply: async (assertion) => {
      await enclave.applyWalletMove({ ...move, assertion })
    },
    prepare: async (transaction) => {
      // Once the request is marked as submitted, the passkey cannot be deleted.
      if (!(await transaction.run(holdWalletPasskey(credentialId)))) throw problem('passkey_not_found')
      await checkAskerIsMember(transaction, request)
    },
    record: async (transaction, { now, actor }) => {
      const [isMoved, ended] = await transaction.batch([markMoved(wallet, quorumId), revokeGrantsOfWallet(wallet, now)])
      if (!isMoved) throw problem('wallet_moved')
      const sealed = slots.map(({ slot, policy_id: policyId, signer_id: signerId, private_key_sealed: key }) => ({
        ...{ slot, policyId, signerId },
        privateKeySealed: Buffer.from(key, 'base64'),
      }))
      const details = { mode, credential_id: credentialId, grants_revoked: ended.length }
      const entry = { logId: accountId, createdAt: now, actor, action: 'wallet.moved', details } as const
      return [
        insertSlots(wallet, sealed),
        insertOwner(wallet, { credentialId, addedAt: now }),
        ...ended.flatMap((grant) => recordStatusChange(grant, { now, actor })),
        insertAuditEntry({ ...entry, subject: address }),
      ]
    },
  }
}

function listSlotSigners(slots: MoveDetails['slots']): WalletSigner[] {
  return slots.map(({ signer_id: signerId, policy_id: policyId }) => ({ signerId, policyIds: [policyId] }))
}
