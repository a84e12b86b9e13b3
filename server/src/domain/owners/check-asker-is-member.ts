import type { Transaction } from '../../db/transaction.ts'
import { problem } from '../../values/problem.ts'
import { findMember } from '../members/members-store.ts'
import type { OwnerRequest } from './owner-request.ts'

/**
 * Checks that the person who asked to become an owner is still a member of the workspace. Otherwise, somebody who was
 * removed from the workspace could become an owner by an earlier request. The asker is the new owner, because people
 * can only ask for their own passkeys. The check is left out for the operator, who acts in the sandbox and may name any
 * person's passkey.
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
