import { useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { useSearchParams } from 'react-router'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import { grantsQuery } from '../../api/queries.ts'
import { ButtonLink } from '../../components/button-link.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { Disclosure } from '../../components/disclosure.tsx'
import { Notice } from '../../components/notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { GRANT_GROUPS, type GrantGroup, isInGroup } from '../../format/grant-state-text.ts'
import { may } from '@bursar/server/src/values/role.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { GrantTable } from './grant-table.tsx'
import { SegmentedLinks } from '../../components/segmented-links.tsx'

interface GroupFilterProps {
  readonly grants: readonly Grant[]
  /** The group that is shown. Null if all grants are shown. */
  readonly group: GrantGroup | null
}

export function GrantsPage() {
  const { slug, mode, name, role, to } = useWorkspace()
  const [parameters] = useSearchParams()
  const { data: grants, error, refetch } = useQuery(grantsQuery(slug, mode))
  const newGrant = may(role, 'manageGrants') && (
    <ButtonLink variant="primary" to={to('grants', 'new')}>
      New grant
    </ButtonLink>
  )
  const group = GRANT_GROUPS.find(({ id }) => id === parameters.get('state')) ?? null
  return (
    <>
      <PageHeading
        title="Grants"
        breadcrumb={name}
        lead="Grants set how much an agent can spend from a wallet. The wallet’s owner signs each grant with a passkey."
        actions={grants !== undefined && grants.length > 0 && newGrant}
      />
      {grants === undefined && <QueryState error={error} onRetry={refetch} />}
      {grants?.length === 0 && (
        <EmptyState title="No grants yet" action={newGrant}>
          A grant lets one agent pay from one wallet. It sets the limits, the recipients and the end date.
        </EmptyState>
      )}
      {grants !== undefined && grants.length > 0 && (
        <>
          <MineNotice grants={grants} />
          <GroupFilter grants={grants} group={group} />
          {group === null ? (
            <AllGroups grants={grants} />
          ) : (
            <GroupGrants title={group.title} grants={grants.filter((grant) => isInGroup(grant, group))} />
          )}
        </>
      )}
    </>
  )
}

/** Says which grants wait for a signature of the user. */
function MineNotice({ grants }: { readonly grants: readonly Grant[] }) {
  const { role, to } = useWorkspace()
  const mine = grants.filter(({ state, is_mine_to_sign }) => state === 'pending' && is_mine_to_sign)
  if (mine.length === 0 || !may(role, 'manageGrants')) return null
  return (
    <Notice tone="warning">
      <p>
        {mine.length === 1 ? 'A grant waits for your signature: ' : `${mine.length} grants wait for your signature: `}
        {mine.map(({ id, agent_id, wallet_name }, index) => (
          <Fragment key={id}>
            {index > 0 && ', '}
            <TextLink to={to('grants', id)}>
              {agent_id} on {wallet_name}
            </TextLink>
          </Fragment>
        ))}
        .
      </p>
    </Notice>
  )
}

/** Grants that a user has to act on come first. Ended grants are in a disclosure. */
function AllGroups({ grants }: { readonly grants: readonly Grant[] }) {
  const groups = GRANT_GROUPS.map((group) => ({ ...group, grants: grants.filter((grant) => isInGroup(grant, group)) }))
  const hasOnlyEnded = groups.every(({ id, grants }) => id === 'ended' || grants.length === 0)
  return groups
    .filter((group) => group.grants.length > 0)
    .map(({ id, title, grants }) =>
      id === 'ended' && !hasOnlyEnded ? (
        <Disclosure key={id} summary={`${title} (${grants.length})`}>
          <GrantTable caption={title} grants={grants} />
        </Disclosure>
      ) : (
        <Section key={id} title={title}>
          <GrantTable caption={title} grants={grants} />
        </Section>
      ),
    )
}

function GroupGrants({ title, grants }: { readonly title: string; readonly grants: readonly Grant[] }) {
  const { to } = useWorkspace()
  if (grants.length > 0) return <GrantTable caption={title} grants={grants} />
  return (
    <EmptyState title="No grants with this status" action={<TextLink to={to('grants')}>Show all grants</TextLink>}>
      There are no grants under “{title}”.
    </EmptyState>
  )
}

/** Filters the list by status. The URL contains the choice. */
function GroupFilter({ grants, group }: GroupFilterProps) {
  const { to } = useWorkspace()
  const segments = GRANT_GROUPS.map((other) => ({
    text: `${other.title} (${grants.filter((grant) => isInGroup(grant, other)).length})`,
    to: `${to('grants')}?state=${other.id}`,
    isCurrent: other.id === group?.id,
  }))
  return (
    <div className="flex min-w-0">
      <SegmentedLinks
        label="Grants by status"
        segments={[{ text: 'All', to: to('grants'), isCurrent: group === null }, ...segments]}
      />
    </div>
  )
}
