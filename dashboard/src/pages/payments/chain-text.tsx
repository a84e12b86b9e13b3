import { useQuery } from '@tanstack/react-query'
import { workspaceQuery } from '../../api/queries.ts'
import { CodeText } from '../../components/code-text.tsx'
import { ExternalLink } from '../../components/external-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

interface ChainTextProps {
  readonly hash: string
  readonly block: number | null
}

/** The block and transaction of a payment, with a link to a block explorer. */
export function ChainText({ hash, block }: ChainTextProps) {
  const { slug, mode } = useWorkspace()
  const { data: workspace } = useQuery(workspaceQuery(slug))
  const chain = workspace?.chains[mode]
  return (
    <>
      {block !== null && <p>Block {block}</p>}
      <p>
        Transaction <CodeText text={hash} what="the transaction hash" />
      </p>
      {chain !== undefined &&
        (chain.explorer_url === null ? (
          <p>No public link is available for this transaction.</p>
        ) : (
          <p>
            <ExternalLink href={`${chain.explorer_url}/tx/${hash}`}>View in block explorer</ExternalLink>
          </p>
        ))}
    </>
  )
}
