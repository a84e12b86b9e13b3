import type { SignedWallet } from '../../api/owners.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** A function that returns what the dashboard sends to the signer page about a wallet. */
export function useSignedWallet(): (wallet: { readonly address: string; readonly name: string }) => SignedWallet {
  const { slug, mode, name } = useWorkspace()
  return (wallet) => ({
    slug,
    mode,
    address: wallet.address,
    claims: { workspace: name, walletName: wallet.name },
  })
}
