import type { Account } from '../../../server/src/domain/accounts/account.ts'
import { OPERATOR } from '../../../server/src/domain/audit/audit-entry.ts'
import { getWalletRecord } from '../../../server/src/domain/owners/get-wallet-record.ts'
import { signWalletRecord } from '../../../server/src/domain/owners/sign-wallet-record.ts'
import type { Address } from '../../../server/src/values/address.ts'
import type { Mode } from '../addresses.ts'
import type { ControlContext } from './control-context.ts'
import { walletOwnerOf } from './owners.ts'

/** Signs the record of a wallet as its owner, unless the owner has signed it already. */
export async function signRecord(
  control: ControlContext,
  { account, mode, address }: { account: Account; mode: Mode; address: Address },
): Promise<void> {
  const place = { accountId: account.id, mode, address }
  const owner = await walletOwnerOf(control, account.slug)
  const { statement, assertions } = await getWalletRecord(control.context, place)
  if (assertions.some(({ credentialId }) => credentialId === owner.credentialId)) return
  await signWalletRecord(control.context, { ...place, assertion: owner.assert(statement), actor: OPERATOR })
}
