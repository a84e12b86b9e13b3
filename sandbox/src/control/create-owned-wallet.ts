import type { Account } from '../../../server/src/domain/accounts/account.ts'
import { OPERATOR } from '../../../server/src/domain/audit/audit-entry.ts'
import { createWallet } from '../../../server/src/domain/wallets/create-wallet.ts'
import type { Wallet } from '../../../server/src/domain/wallets/wallet.ts'
import type { Mode } from '../addresses.ts'
import type { ControlContext } from './control-context.ts'
import { walletOwnerOf } from './owners.ts'
import { getWalletRecord } from '../../../server/src/domain/owners/get-wallet-record.ts'
import { signWalletRecord } from '../../../server/src/domain/owners/sign-wallet-record.ts'
import type { Address } from '../../../server/src/values/address.ts'

/** Creates a wallet of the workspace's owner, who also signs its record. */
export async function createOwnedWallet(
  control: ControlContext,
  { account, mode, name }: { account: Account; mode: Mode; name: string },
): Promise<Wallet> {
  const { credentialId } = await walletOwnerOf(control, account.slug)
  const wallet = await createWallet(control.context, {
    accountId: account.id,
    mode,
    name,
    credentialId,
    actor: OPERATOR,
  })
  await signRecord(control, { account, mode, address: wallet.address })
  return wallet
}

/** Signs the record of a wallet as its owner, unless the owner has signed it already. */
async function signRecord(
  control: ControlContext,
  { account, mode, address }: { account: Account; mode: Mode; address: Address },
): Promise<void> {
  const place = { accountId: account.id, mode, address }
  const owner = await walletOwnerOf(control, account.slug)
  const { statement, assertions } = await getWalletRecord(control.context, place)
  if (assertions.some(({ credentialId }) => credentialId === owner.credentialId)) return
  await signWalletRecord(control.context, { ...place, assertion: owner.assert(statement), actor: OPERATOR })
}
