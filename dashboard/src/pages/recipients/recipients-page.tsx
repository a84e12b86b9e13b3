import { useQuery } from '@tanstack/react-query'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { Spending, SpendingRow } from '@bursar/server/src/console/contract/overview.ts'
import { grantsQuery, recipientsQuery, spendingQuery } from '../../api/queries.ts'
import { EmptyState } from '../../components/empty-state.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { List } from '../../components/list.tsx'
import { Section } from '../../components/section.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { may } from '@bursar/server/src/values/role.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { NewRecipientForm } from './new-recipient-form.tsx'
import { RecipientRow } from './recipient-row.tsx'
import { useRecipientActions } from './use-recipient-actions.ts'

export function RecipientsPage() {
  const { slug, mode, name, role } = useWorkspace()
  const { data: recipients, error, refetch } = useQuery(recipientsQuery(slug, mode))
  const { data: grants } = useQuery(grantsQuery(slug, mode))
  const { data: spending } = useQuery(spendingQuery(slug, mode, { period: 'this_month', by: 'recipient' }))
  const actions = useRecipientActions()
  return (
    <>
      <PageHeading
        title="Recipients"
        breadcrumb={name}
        lead="Names for the addresses that your agents pay. Names are only shown in this workspace. Grants allow addresses, not names."
      />
      {may(role, 'labelRecipients') && (
        <Section title="Add a recipient">
          <NewRecipientForm onSubmit={actions.label} />
        </Section>
      )}
      <Section title="Address book">
        {recipients === undefined && <QueryState error={error} onRetry={refetch} />}
        {recipients?.length === 0 && (
          <EmptyState title="No recipients yet">
            {may(role, 'labelRecipients')
              ? 'Add the addresses that your agents pay. Grants and payments then show their names.'
              : 'An owner or admin of this workspace can add recipients.'}
          </EmptyState>
        )}
        {recipients !== undefined && recipients.length > 0 && (
          <List>
            {recipients.map((recipient) => (
              <RecipientRow
                key={recipient.address}
                recipient={recipient}
                grants={grantsFor(grants, recipient.address)}
                spent={spentOn(spending, recipient.address)}
                actions={may(role, 'labelRecipients') ? actions : null}
              />
            ))}
          </List>
        )}
      </Section>
    </>
  )
}

/** The grants that have not ended and list the address. */
function grantsFor(grants: readonly Grant[] | undefined, address: string): readonly Grant[] {
  const open = grants?.filter(({ status }) => status !== 'revoked') ?? []
  return open.filter((grant) =>
    grant.recipient_allowlist.some((allowed) => allowed.toLowerCase() === address.toLowerCase()),
  )
}

/**
 * What was paid to an address this month. Null while it is loading, and if the address is not among those to which most
 * was paid, which are added up in one row.
 */
function spentOn(spending: Spending | undefined, address: string): Pick<SpendingRow, 'spent_usdc'> | null {
  if (spending === undefined || spending.is_too_large) return null
  const row = spending.rows.find(({ name }) => name?.toLowerCase() === address.toLowerCase())
  return row ?? (spending.rows.some(({ name }) => name === null) ? null : { spent_usdc: '0' })
}
