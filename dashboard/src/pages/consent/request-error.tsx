import { ApiError } from '../../api/api-error.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { TextLink } from '../../components/text-link.tsx'

interface RequestErrorProps {
  /** Why the request could not be loaded. Null if the URL names no request. */
  readonly error: Error | null
  readonly onRetry: () => void
}

/** Shown if there is no request that the user can decide on. Explains why, and what to do. */
export function RequestError({ error, onRetry }: RequestErrorProps) {
  const status = error instanceof ApiError ? error.status : null
  if (status === 409) {
    return (
      <>
        <PageHeading title="This request was already answered" />
        <p>
          If you approved it, the application is now listed under Connections in your workspace. If the application
          doesn’t seem to be connected, connect again from the application. Each request can only be answered once.
        </p>
        <WorkspacesLink />
      </>
    )
  }
  if (status === 404 || error === null) {
    return (
      <>
        <PageHeading title="This request is no longer open" />
        <p>Requests expire after ten minutes. Nothing was approved. Go back to the application and connect again.</p>
        <WorkspacesLink />
      </>
    )
  }
  return (
    <>
      <PageHeading title="The request can’t be shown" />
      <ErrorNotice error={error} onRetry={onRetry} />
    </>
  )
}

function WorkspacesLink() {
  return (
    <p>
      <TextLink to="/">Go to your workspaces</TextLink>
    </p>
  )
}
