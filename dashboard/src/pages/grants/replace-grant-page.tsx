import { useQuery } from '@tanstack/react-query'
import { useParams } from 'react-router'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import { grantQuery, walletQuery } from '../../api/queries.ts'
import { Notice } from '../../components/notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { may } from '@bursar/server/src/values/role.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { ReplaceForm } from './replace-form.tsx'
import { useRecipients } from './use-recipients.ts'

export function ReplaceGrantPage() {
  const { slug, mode, to } = useWorkspace()
  const { id = '' } = useParams()
  const { data: grant, error, refetch } = useQuery(grantQuery(slug, mode, id))
  const recipients = useRecipients()
  return (
    <>
      <PageHeading
        title="Replace grant"
        breadcrumb={
          <TextLink to={to('grants', id)}>{grant === undefined ? 'Grant' : `Grant for ${grant.agent_id}`}</TextLink>
        }
        lead="A signed grant can’t be edited, only replaced. The replacement takes effect when the wallet’s owner signs it. Until then, the current grant still applies."
      />
      {grant === undefined || recipients.isPending ? (
        <QueryState error={error} onRetry={refetch} lines={6} />
      ) : (
        <Replacement key={grant.id} grant={grant} recipients={recipients.list} />
      )}
    </>
  )
}

function Replacement({ grant, recipients }: { readonly grant: Grant; readonly recipients: readonly Recipient[] }) {
  const { slug, mode, role, to } = useWorkspace()
  const { data: wallet } = useQuery(walletQuery(slug, mode, grant.wallet))
  if (!may(role, 'manageGrants')) {
    return (
      <Notice>
        <p>Viewers can’t replace grants. Ask an owner or admin of this workspace.</p>
      </Notice>
    )
  }
  if (grant.status !== 'active') {
    return (
      <Notice tone="warning">
        <p>
          {grant.status === 'pending'
            ? 'This grant was never signed, so it can’t be replaced.'
            : 'This grant has ended, so it can’t be replaced.'}{' '}
          <TextLink to={to('grants', grant.id)}>Back to the grant</TextLink>
        </p>
      </Notice>
    )
  }
  return <ReplaceForm grant={grant} recipients={recipients} wallet={wallet ?? null} />
}
