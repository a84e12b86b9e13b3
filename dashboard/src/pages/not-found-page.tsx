import { PageHeading } from '../components/page-heading.tsx'
import { TextLink } from '../components/text-link.tsx'

export function NotFoundPage() {
  return (
    <>
      <PageHeading title="There is no such page" lead="The address may be mistyped, or what stood here is gone." />
      <p>
        <TextLink to="/">Go to your workspaces</TextLink>
      </p>
    </>
  )
}
