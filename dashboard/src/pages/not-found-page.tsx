import { useOutletContext } from 'react-router'
import type { Mode } from '../api/wire.ts'
import { ButtonLink } from '../components/button-link.tsx'
import { PageHeading } from '../components/page-heading.tsx'
import { pathTo } from '../navigation/paths.ts'

export function NotFoundPage() {
  // Within a workspace its pages go on around this one.
  const place = useOutletContext<{ readonly slug: string; readonly mode: Mode } | undefined>()
  return (
    <>
      <PageHeading
        title="There is no such page"
        lead="The address may be mistyped, what stood here may be gone, or it is not for this account to see."
      />
      <p className="flex flex-wrap gap-3">
        {place !== undefined && (
          <ButtonLink to={pathTo(place.slug, place.mode)} variant="primary">
            Go to the overview
          </ButtonLink>
        )}
        <ButtonLink to="/">Go to your workspaces</ButtonLink>
      </p>
    </>
  )
}
