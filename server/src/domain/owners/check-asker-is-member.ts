import type { Transaction } from '../../db/transaction.ts'
import { problem } from '../../values/problem.ts'
import { findMember } from '../members/members-store.ts'
import type { OwnerRequest } from '../wallets/owner-request.ts'

/**
 * Checks that the person who asked to become an owner is still a member of the workspace. People can only ask for their
 * own passkeys. So somebody who was removed from the workspace does not become an owner by an earlier request. The
 * operator, who acts in the sandbox, may name any person's passkey.
 *
 * Throws 404 `passkey_not_found`, as if this person had no passkey.
 */
export async function checkAskerIsMember(
  transaction: Transaction,
  { accountId, createdBy }: Pick<OwnerRequest, 'accountId' | 'createdBy'>,
): Promise<void> {
  if (createdBy !== null && (await transaction.run(findMember(accountId, createdBy))) === null) {
    throw problem('passkey_not_found')
  }
}
