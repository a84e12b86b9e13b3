import { useQuery } from '@tanstack/react-query'
import { walletsQuery } from '../../api/wallets.ts'
import { CodeText } from '../../components/code-text.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** The name of a wallet, or the shortened address while the name is not known. */
export function WalletText({ address }: { readonly address: string }) {
  const { slug, mode } = useWorkspace()
  const { data: wallets } = useQuery(walletsQuery(slug, mode))
  const name = wallets?.find((wallet) => wallet.address === address)?.name
  return name === undefined ? <CodeText text={address} isShort /> : <bdi title={`${name} (${address})`}>{name}</bdi>
}
