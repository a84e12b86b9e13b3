import { useQuery } from '@tanstack/react-query'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import { grantsQuery } from '../../api/queries.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** Shown if a replacement for this grant is awaiting signature. */
export function PendingReplacementNotice({ grant }: { readonly grant: Grant }) {
  const { slug, mode, to } = useWorkspace()
  const { data: grants } = useQuery(grantsQuery(slug, mode, { agent: grant.agent_id, wallet: grant.wallet }))
  const replacement = grants?.find(({ replaces, status }) => replaces === grant.id && status === 'pending')
  if (replacement === undefined) return null
  return (
    <Notice tone="warning">
      <p>
        A replacement for this grant is awaiting signature.{' '}
        <TextLink to={to('grants', replacement.id)}>Review the replacement</TextLink>
      </p>
    </Notice>
  )
}
