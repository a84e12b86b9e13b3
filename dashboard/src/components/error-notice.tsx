import { explainError } from '../format/explain-error.ts'
import { Button } from './button.tsx'
import { Notice } from './notice.tsx'

interface ErrorNoticeProps {
  /** What was thrown; null or undefined while all is well. */
  readonly error: unknown
  readonly onRetry?: () => void
}

/** Tells what went wrong, to readers of the screen at once. */
export function ErrorNotice({ error, onRetry }: ErrorNoticeProps) {
  if (error === null || error === undefined) return null
  return (
    <div role="alert">
      <Notice tone="danger">
        <p>{explainError(error)}</p>
        {onRetry !== undefined && (
          <p>
            <Button onClick={onRetry}>Try again</Button>
          </p>
        )}
      </Notice>
    </div>
  )
}
