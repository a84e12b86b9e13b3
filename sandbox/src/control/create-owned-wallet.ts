import type { Workspace } from '../../../server/src/domain/workspaces/workspace.ts'
import { OPERATOR } from '../../../server/src/domain/audit/audit-entry.ts'
import { getWalletRecord } from '../../../server/src/domain/owners/get-wallet-record.ts'
import { signWalletRecord } from '../../../server/src/domain/owners/sign-wallet-record.ts'
import { createWallet } from '../../../server/src/domain/wallets/create-wallet.ts'
import type { Wallet } from '../../../server/src/domain/wallets/wallet.ts'
import type { Mode } from '../addresses.ts'
import type { ControlContext } from './control-context.ts'
import { walletOwnerOf } from './owners.ts'

/** Creates a wallet of the workspace's owner, who also signs its record. */
export async function createOwnedWallet(
  control: ControlContext,
  { workspace, mode, name }: { workspace: Workspace; mode: Mode; name: string },
): Promise<Wallet> {
  const { context } = control
  const owner = walletOwnerOf(control, workspace.slug)
  const place = { workspaceId: workspace.id, mode }
  const { credentialId } = owner
  const wallet = await createWallet(context, { ...place, name, credentialId, actor: OPERATOR })
  const { statement } = await getWalletRecord(context, { ...place, address: wallet.address })
  const assertion = owner.assert(statement)
  await signWalletRecord(context, { ...place, address: wallet.address, assertion, actor: OPERATOR })
  return wallet
}
