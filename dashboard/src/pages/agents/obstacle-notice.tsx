import { useQuery } from '@tanstack/react-query'
import { grantsQuery } from '../../api/grants.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { GRANT_STATE_WORDS } from '../../format/grant-state-text.ts'
import { useWorkspace } from '../workspace/workspace-context.ts'

interface ObstacleNoticeProps {
  readonly agentId: string
  readonly grantIds: readonly string[]
}

/** Why an agent could not be deleted: what is granted ends by the owner's signature, not by the agent's going. */
export function ObstacleNotice({ agentId, grantIds }: ObstacleNoticeProps) {
  const { slug, mode, to } = useWorkspace()
  const { data: grants } = useQuery(grantsQuery(slug, mode, { agent: agentId }))
  return (
    <div role="alert">
      <Notice tone="warning">
        <p className="font-semibold">
          It still has {grantIds.length === 1 ? 'a grant' : 'grants'}, so it was not deleted.
        </p>
        <p>
          Revoke {grantIds.length === 1 ? 'it' : 'them'} first, which takes the signature of the wallet’s owner; one
          that still waits for a signature is dropped without.
        </p>
        <ul className="list-disc pl-5">
          {grantIds.map((id) => {
            const grant = grants?.find((other) => other.id === id)
            return (
              <li key={id}>
                <TextLink to={to('grants', id)}>{grant === undefined ? id : `Grant on ${grant.wallet_name}`}</TextLink>
                {grant !== undefined && ` (${GRANT_STATE_WORDS[grant.state].toLowerCase()})`}
              </li>
            )
          })}
        </ul>
      </Notice>
    </div>
  )
}
