import { explainError } from '../format/explain-error.ts'
import { Button } from './button.tsx'
import { Notice } from './notice.tsx'

interface ErrorNoticeProps {
  /** The error to show. If it is null or undefined, nothing is shown. */
  readonly error: unknown
  readonly onRetry?: () => void
  /** Returns the message to show for the error. */
  readonly explain?: (error: unknown) => string
}

/** Explains an error. Screen readers announce it immediately. */
export function ErrorNotice({ error, onRetry, explain = explainError }: ErrorNoticeProps) {
  if (error === null || error === undefined) return null
  return (
    <div role="alert">
      <Notice tone="danger">
        <p>{explain(error)}</p>
        {onRetry !== undefined && (
          <p>
            <Button onClick={onRetry}>Try again</Button>
          </p>
        )}
      </Notice>
    </div>
  )
}
