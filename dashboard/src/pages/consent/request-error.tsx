import { ApiError } from '../../api/api-error.ts'
import { ErrorNotice } from '../../components/error-notice.tsx'
import { PageHeading } from '../../components/page-heading.tsx'
import { TextLink } from '../../components/text-link.tsx'

interface RequestErrorProps {
  /** Null when the address names no request. */
  readonly error: Error | null
  readonly onRetry: () => void
}

/** When there is nothing to decide: what became of the request, and what to do. */
export function RequestError({ error, onRetry }: RequestErrorProps) {
  const status = error instanceof ApiError ? error.status : null
  if (status === 409) {
    return (
      <>
        <PageHeading title="This request was already answered" />
        <p>
          If you approved it, the application is connected by now, and you find it under Connections in your workspace.
          If it seems not to have noticed, start connecting again from there: each request is answered once.
        </p>
        <Onward />
      </>
    )
  }
  if (status === 404 || error === null) {
    return (
      <>
        <PageHeading title="This request is no longer open" />
        <p>
          A request waits ten minutes for an answer, and this one is not known, or not any more. Nothing was approved.
          Go back to the application and connect again.
        </p>
        <Onward />
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

function Onward() {
  return (
    <p>
      <TextLink to="/">Go to your workspaces</TextLink>
    </p>
  )
}
