import { ApiError } from '../api/api-error.ts'
import { ErrorNotice } from './error-notice.tsx'
import { Skeleton } from './skeleton.tsx'

interface QueryStateProps {
  /** The error of the query. Null while it is loading. */
  readonly error: unknown
  readonly onRetry: () => unknown
  /** The number of lines of the skeleton. */
  readonly lines?: number
}

/** Shown instead of data that is not available: a skeleton while the data loads, or the error. */
export function QueryState({ error, onRetry, lines = 4 }: QueryStateProps) {
  if (error === null) return <Skeleton lines={lines} />
  // Retrying does not help if the object does not exist, or is on other servers.
  const isGone = error instanceof ApiError && (error.status === 404 || error.status === 421)
  return isGone ? <ErrorNotice error={error} /> : <ErrorNotice error={error} onRetry={() => void onRetry()} />
}
