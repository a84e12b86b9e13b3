import type { Context } from '../context.ts'
import { toSpki } from '../wallets/owner-passkey.ts'
import { listOwners } from '../wallets/wallet-owners-store.ts'
import type { Wallet } from '../wallets/wallet.ts'
import type { SignerLease } from '../wallets/with-signer-lease.ts'
import type { OwnerRequest } from './owner-request.ts'

/** Reads from the enclave whether a change of owners was made. `other`: something else has changed the owners. */
export async function readChange(
  { enclave }: Pick<Context, 'enclave'>,
  wallet: Wallet,
  { details: { before, after } }: OwnerRequest,
): Promise<'before' | 'after' | 'other'> {
  const owners = await enclave.readOwners(wallet)
  if (owners === null) return 'other'
  if (sameMembers(owners, after)) return 'after'
  return sameMembers(owners, before) ? 'before' : 'other'
}

/** Reads whether our own record is already as the owner signed it, because another request made the same change. */
export async function isRecorded(
  { db }: Pick<Context, 'db'>,
  wallet: Wallet,
  { details: { after } }: OwnerRequest,
): Promise<boolean> {
  const owners = await db.read(listOwners(wallet))
  const keys = owners.map(({ publicKeyCose }) => toSpki(publicKeyCose))
  return sameMembers(keys, after)
}

/**
 * Returns whether the enclave has rejected a request: it was sent, and can no longer take effect. It is not sent again.
 * Otherwise the change would be made later than the leaf of its signature says, and evidence would give the grants that
 * were signed in between to the wrong owners.
 */
export function wasRejected({ submittedBy }: OwnerRequest, { mayTakeEffect }: SignerLease): boolean {
  return submittedBy !== null && !mayTakeEffect
}

/** Returns whether two lists have the same keys. */
export function sameMembers(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((key) => right.includes(key))
}
