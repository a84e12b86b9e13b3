import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { membersQuery } from '../../api/queries.ts'
import { PageHeading } from '../../components/page-heading.tsx'
import { List } from '../../components/list.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { may } from '@bursar/server/src/values/role.ts'
import { DepartureNotice, type Departure } from './departure-notice.tsx'
import { InvitationsSection } from './invitations-section.tsx'
import { MemberRow } from './member-row.tsx'
import { useWorkspace } from './use-workspace.ts'

export function MembersPage() {
  const { slug, name, role } = useWorkspace()
  const { data: members, error, refetch } = useQuery(membersQuery(slug))
  const [departure, setDeparture] = useState<Departure | null>(null)
  return (
    <>
      <PageHeading
        title="Members"
        breadcrumb={name}
        lead="The members of this workspace and their roles. Roles apply to both modes."
      />
      <DepartureNotice departure={departure} />
      {members === undefined && <QueryState error={error} onRetry={refetch} />}
      {members !== undefined && (
        <List>
          {members.map((member) => (
            <MemberRow key={member.user_id} member={member} onDeparted={setDeparture} />
          ))}
        </List>
      )}
      {may(role, 'manageMembers') && <InvitationsSection />}
    </>
  )
}
