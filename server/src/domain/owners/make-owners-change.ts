import { problem } from '../../values/problem.ts'
import { insertAuditEntry } from '../audit/audit-store.ts'
import type { Context } from '../context.ts'
import type { OwnerRequest } from './owner-request.ts'
import { toSpki } from '../wallets/owner-passkey.ts'
import { deleteOwner, insertOwner, listOwners } from '../wallets/wallet-owners-store.ts'
import { holdWalletPasskey } from '../wallets/wallet-passkeys-store.ts'
import type { Wallet } from '../wallets/wallet.ts'
import type { ChangeState, EnclaveChange } from './enclave-change.ts'
import type { Transaction } from '../../db/transaction.ts'
import { findMember } from '../members/members-store.ts'

/** Returns whether two lists have the same keys. */
export function sameMembers(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((key) => right.includes(key))
}

/** The change that adds one passkey to a wallet's owners, or removes one (D61). */
export function makeOwnersChange(
  { db, enclave }: Pick<Context, 'db' | 'enclave'>,
  { wallet, request }: { wallet: Wallet; request: OwnerRequest },
): EnclaveChange {
  const { credential_id: credentialId, before, after } = request.details
  const isAddition = request.kind === 'add_owner'
  const toSign = enclave.prepareOwners({ wallet, owners: after, expiresAt: request.expiresAt })

  async function readState(): Promise<ChangeState> {
    const owners = await enclave.readOwners(wallet)
    if (owners === null) return 'other'
    if (sameMembers(owners, after)) return 'after'
    return sameMembers(owners, before) ? 'before' : 'other'
  }

  return {
    challenge: toSign.payload,
    checkSigner: (signedBy) => {
      // A passkey that is lost or stolen must not decide about its own removal.
      if (!isAddition && signedBy === credentialId) throw problem('signature_invalid')
    },
    readState,
    isRecorded: async () => {
      const owners = await db.read(listOwners(wallet))
      return sameMembers(
        owners.map(({ publicKeyCose }) => toSpki(publicKeyCose)),
        after,
      )
    },
    apply: async (assertion) => toSign.submit(assertion),
    prepare: async (transaction) => {
      // Locks the passkey, so that it cannot be deleted before the request is marked as submitted. After that, the mark
      // keeps it from being deleted.
      if (isAddition && !(await transaction.run(holdWalletPasskey(credentialId)))) throw problem('passkey_not_found')
      if (isAddition) await checkAskerIsMember(transaction, request)
    },
    record: async (_transaction, { now, actor }) => {
      const { accountId, mode, address } = wallet
      const action = isAddition ? 'wallet.owner_added' : 'wallet.owner_removed'
      const details = { mode, credential_id: credentialId }
      const entry = insertAuditEntry({ logId: accountId, createdAt: now, actor, action, subject: address, details })
      return [
        isAddition ? insertOwner(wallet, { credentialId, addedAt: now }) : deleteOwner(wallet, credentialId),
        entry,
      ]
    },
  }
}

/**
 * Checks that the person who asked to become an owner is still a member of the workspace. Otherwise, somebody who was
 * removed from the workspace could become an owner by an earlier request. The asker is the new owner, because people
 * can only ask for their own passkeys. The check is left out for the operator, who acts in the sandbox and may name any
 * person's passkey.
 *
 * Throws 404 `passkey_not_found`, as if this person had no passkey.
 */
async function checkAskerIsMember(
  transaction: Transaction,
  { accountId, createdBy }: Pick<OwnerRequest, 'accountId' | 'createdBy'>,
): Promise<void> {
  if (createdBy !== null && (await transaction.run(findMember(accountId, createdBy))) === null) {
    throw problem('passkey_not_found')
  }
}
