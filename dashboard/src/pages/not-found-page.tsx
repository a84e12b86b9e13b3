import { useOutletContext } from 'react-router'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { ButtonLink } from '../components/button-link.tsx'
import { PageHeading } from '../components/page-heading.tsx'
import { pathTo } from '../navigation/paths.ts'

export function NotFoundPage() {
  // The workspace is only defined if this page is shown inside a workspace.
  const workspace = useOutletContext<{ readonly slug: string; readonly mode: Mode } | undefined>()
  return (
    <>
      <PageHeading
        title="Page not found"
        lead="The URL may be wrong, the page may have been removed, or your account may not have access to it."
      />
      <p className="flex flex-wrap gap-3">
        {workspace !== undefined && (
          <ButtonLink to={pathTo(workspace.slug, workspace.mode)} variant="primary">
            Go to the overview
          </ButtonLink>
        )}
        <ButtonLink to="/">Go to your workspaces</ButtonLink>
      </p>
    </>
  )
}
