import { ButtonLink } from '../../components/button-link.tsx'
import { PageHeading } from '../../components/page-heading.tsx'

/** For somebody who belonged to the workspace until a moment ago. */
export function FormerMemberPage({ name }: { readonly name: string }) {
  return (
    <>
      <PageHeading
        title="You no longer belong to this workspace"
        isStep
        lead={
          <>
            You left <bdi>{name}</bdi>, or one of its members removed you. To come back you need a new invitation.
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
