import { ApiError } from '../api/api-error.ts'
import { ErrorNotice } from './error-notice.tsx'
import { Skeleton } from './skeleton.tsx'

interface QueryStateProps {
  /** Why nothing came; null while it may still come. */
  readonly error: unknown
  readonly onRetry: () => unknown
  /** How many lines are to come, at a guess. */
  readonly lines?: number
}

/** In the place of what was asked for and is not there: it is on its way, or could not be had. */
export function QueryState({ error, onRetry, lines = 4 }: QueryStateProps) {
  if (error === null) return <Skeleton lines={lines} />
  // What is not there will not be there the next time.
  const isGone = error instanceof ApiError && error.status === 404
  return isGone ? <ErrorNotice error={error} /> : <ErrorNotice error={error} onRetry={() => void onRetry()} />
}
