import { useQuery } from '@tanstack/react-query'
import { agentsQuery, grantsQuery, walletsQuery } from '../../api/queries.ts'
import { ButtonLink } from '../../components/button-link.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Notice } from '../../components/notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { may } from '@bursar/server/src/values/role.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { NewGrantForm } from './new-grant-form.tsx'
import { useRecipients } from './use-recipients.ts'

export function NewGrantPage() {
  const { slug, mode, role, to } = useWorkspace()
  const agents = useQuery(agentsQuery(slug, mode))
  const wallets = useQuery(walletsQuery(slug, mode))
  const grants = useQuery(grantsQuery(slug, mode))
  const recipients = useRecipients()
  const isReady = agents.data !== undefined && wallets.data !== undefined && !recipients.isPending
  return (
    <>
      <PageHeading
        title="New grant"
        breadcrumb={<TextLink to={to('grants')}>Grants</TextLink>}
        lead="Set how much an agent can spend. The grant takes effect once the wallet’s owner has signed it."
      />
      {!may(role, 'manageGrants') && (
        <Notice>
          <p>Viewers can’t create grants. Ask an owner or admin of this workspace.</p>
        </Notice>
      )}
      {may(role, 'manageGrants') && !isReady && (
        <QueryState
          error={agents.error ?? wallets.error}
          lines={6}
          onRetry={() => Promise.all([agents.refetch(), wallets.refetch()])}
        />
      )}
      {may(role, 'manageGrants') && isReady && wallets.data.length === 0 && (
        <EmptyState
          title="Create a wallet first"
          action={
            <ButtonLink variant="primary" to={to('wallets')}>
              Go to wallets
            </ButtonLink>
          }
        >
          A grant lets an agent pay from a wallet. Create a wallet, then come back.
        </EmptyState>
      )}
      {may(role, 'manageGrants') && isReady && wallets.data.length > 0 && (
        <NewGrantForm
          agents={agents.data}
          wallets={wallets.data}
          grants={grants.data ?? []}
          recipients={recipients.list}
        />
      )}
    </>
  )
}
