import { parseIdTime } from '../format/parse-id-time.ts'
import { Button } from './button.tsx'
import { TimeText } from './time-text.tsx'

interface LoadMoreButtonProps {
  /** The cursor of the next page. Null at the end of the list. */
  readonly next: string | null | undefined
  readonly isBusy: boolean
  /** Whether the last page was empty. The text next to the button then says how far back the server has searched. */
  readonly isEmpty: boolean
  readonly onLoadMore: () => void
  /** What the button loads, in an order other than the newest first. */
  readonly label?: string
}

/**
 * Loads older entries of a list. To stay fast, the server searches only a part of the list per request. So a page can
 * be empty although older entries match.
 */
export function LoadMoreButton({ next, isBusy, isEmpty, onLoadMore, label }: LoadMoreButtonProps) {
  if (next === null || next === undefined) return null
  const searchedTo = parseIdTime(next)
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <Button disabled={isBusy} onClick={onLoadMore}>
        {label ?? (isEmpty ? 'Search further back' : 'Load older')}
      </Button>
      {isEmpty && searchedTo !== null && (
        <p role="status" className="text-muted">
          Searched back to <TimeText at={searchedTo} isExact />.
        </p>
      )}
    </div>
  )
}
