import { ButtonLink } from '../../components/button-link.tsx'
import { PageHeading } from '../../components/page-heading.tsx'

/** Shown to a user who has just left the workspace or was removed. */
export function FormerMemberPage({ name }: { readonly name: string }) {
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
      <p>
        <ButtonLink to="/" variant="primary">
          Go to your workspaces
        </ButtonLink>
      </p>
    </>
  )
}
