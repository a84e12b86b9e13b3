import { useQuery } from '@tanstack/react-query'
import { membersQuery } from '../../api/workspaces.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Loading } from '../../components/loading.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { Rows } from '../../components/rows.tsx'
import { isAdmin } from '../../roles.ts'
import { InvitationsSection } from './invitations-section.tsx'
import { MemberRow } from './member-row.tsx'
import { useWorkspace } from './workspace-context.ts'

export function MembersPage() {
  const { slug, name, role } = useWorkspace()
  const { data: members, error, refetch } = useQuery(membersQuery(slug))
  return (
    <>
      <PageHeading title="Members" place={name} />
      {members === undefined &&
        (error === null ? <Loading /> : <ErrorNotice error={error} onRetry={() => void refetch()} />)}
      {members !== undefined && (
        <Rows>
          {members.map((member) => (
            <MemberRow key={member.user_id} member={member} />
          ))}
        </Rows>
      )}
      {isAdmin(role) && <InvitationsSection />}
    </>
  )
}
