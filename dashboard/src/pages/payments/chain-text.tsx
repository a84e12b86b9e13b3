import { useQuery } from '@tanstack/react-query'
import { workspaceQuery } from '../../api/workspaces.ts'
import { CodeText } from '../../components/code-text.tsx'
import { ExternalLink } from '../../components/external-link.tsx'
import { formatNetwork } from '../../format/network.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

interface ChainTextProps {
  readonly hash: string
  readonly block: number | null
}

/** Where a payment is on its chain, and where anybody can look it up. */
export function ChainText({ hash, block }: ChainTextProps) {
  const { slug, mode } = useWorkspace()
  const { data: workspace } = useQuery(workspaceQuery(slug))
  const chain = workspace?.chains[mode]
  return (
    <>
      {block !== null && <p>Block {block}</p>}
      <p>
        Transaction <CodeText text={hash} what="the transaction’s hash" />
      </p>
      {chain !== undefined &&
        (chain.explorer_url === null ? (
          <p>No explorer shows it: this server’s {formatNetwork(chain.chain_id)} is a local chain.</p>
        ) : (
          <p>
            <ExternalLink href={`${chain.explorer_url}/tx/${hash}`}>See it in the chain’s explorer</ExternalLink>
          </p>
        ))}
    </>
  )
}
