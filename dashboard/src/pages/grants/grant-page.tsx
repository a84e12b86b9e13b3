import { useQuery } from '@tanstack/react-query'
import { useParams } from 'react-router'
import { grantQuery } from '../../api/queries.ts'
import { PageHeading } from '../../components/page-heading.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { InOtherMode } from '../workspace/item-state.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { GrantDetail } from './grant-detail.tsx'

export function GrantPage() {
  const { slug, mode, to } = useWorkspace()
  const { id = '' } = useParams()
  const { data: grant, error, refetch } = useQuery(grantQuery(slug, mode, id))
  if (grant?.mode === mode) return <GrantDetail key={id} grant={grant} />
  return (
    <>
      <PageHeading title="Grant" breadcrumb={<TextLink to={to('grants')}>Grants</TextLink>} />
      {grant === undefined ? (
        <QueryState error={error} onRetry={refetch} />
      ) : (
        <InOtherMode noun="grant" mode={grant.mode} />
      )}
    </>
  )
}
