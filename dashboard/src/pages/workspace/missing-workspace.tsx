import { useQuery } from '@tanstack/react-query'
import { hasCode } from '../../api/api-error.ts'
import { workspaceQuery } from '../../api/queries.ts'
import { ButtonLink } from '../../components/button-link.tsx'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { Loading } from '../../components/loading.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { NotFoundPage } from '../not-found-page.tsx'

interface MissingWorkspaceProps {
  readonly slug: string
  /** The name of the workspace, if this page has shown it before. */
  readonly formerName: string | null
}

/** Shown to a user who is not a member of the workspace. Asks the server whether the workspace was moved elsewhere. */
export function MissingWorkspace({ slug, formerName }: MissingWorkspaceProps) {
  const { error, isPending, refetch } = useQuery({ ...workspaceQuery(slug), staleTime: 0 })
  if (isPending) return <Loading />
  if (hasCode(error, 'workspace_moved')) {
    return (
      <>
        <PageHeading title="This workspace was moved" isStep />
        <ErrorNotice error={error} />
        <ToWorkspaces />
      </>
    )
  }
  if (hasCode(error, 'workspace_moving')) {
    return (
      <>
        <PageHeading title="This workspace is being moved" isStep />
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </>
    )
  }
  return formerName === null ? <NotFoundPage /> : <FormerMemberPage name={formerName} />
}

/** Shown to a user who has just left the workspace or was removed. */
function FormerMemberPage({ name }: { readonly name: string }) {
  return (
    <>
      <PageHeading
        title="You are no longer a member of this workspace"
        isStep
        lead={
          <>
            You left <bdi>{name}</bdi>, or another member removed you. To rejoin, you need a new invitation.
          </>
        }
      />
      <ToWorkspaces />
    </>
  )
}

function ToWorkspaces() {
  return (
    <p>
      <ButtonLink to="/" variant="primary">
        Go to your workspaces
      </ButtonLink>
    </p>
  )
}
