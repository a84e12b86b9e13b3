import { useQuery } from '@tanstack/react-query'
import { grantsQuery } from '../../api/grants.ts'
import type { Grant } from '../../api/wire-spending.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** Another policy is to take this one's place, and waits for its signature. */
export function PendingReplacementNotice({ grant }: { readonly grant: Grant }) {
  const { slug, mode, to } = useWorkspace()
  const { data: grants } = useQuery(grantsQuery(slug, mode, { agent: grant.agent_id, wallet: grant.wallet }))
  const successor = grants?.find(({ replaces, status }) => replaces === grant.id && status === 'pending')
  if (successor === undefined) return null
  return (
    <Notice tone="warning">
      <p>
        A new policy is prepared, and waits for a signature.{' '}
        <TextLink to={to('grants', successor.id)}>Review the new policy</TextLink>
      </p>
    </Notice>
  )
}
