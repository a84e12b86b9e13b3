import type { Account } from '../../../server/src/domain/accounts/account.ts'
import { OPERATOR } from '../../../server/src/domain/audit/audit-entry.ts'
import { createWallet } from '../../../server/src/domain/wallets/create-wallet.ts'
import type { Wallet } from '../../../server/src/domain/wallets/wallet.ts'
import type { Mode } from '../addresses.ts'
import type { ControlContext } from './control-context.ts'
import { walletOwnerOf } from './owners.ts'
import { signRecord } from './sign-record.ts'

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
