import { ButtonLink } from '../components/button-link.tsx'
import { PageHeading } from '../components/page-heading.tsx'

export function NotFoundPage() {
  return (
    <>
      <PageHeading
        title="There is no such page"
        lead="The address may be mistyped, what stood here may be gone, or it is not for this account to see."
      />
      <p>
        <ButtonLink to="/">Go to your workspaces</ButtonLink>
      </p>
    </>
  )
}
