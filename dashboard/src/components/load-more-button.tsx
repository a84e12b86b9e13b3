import { parseIdTime } from '../format/parse-id-time.ts'
import { Button } from './button.tsx'
import { TimeText } from './time-text.tsx'

interface LoadMoreButtonProps {
  /** The cursor of the next page. Null at the end of the list. */
  readonly next: string | null | undefined
  readonly isBusy: boolean
  /** The last page was empty. The button then says how far back the search has gone. */
  readonly isEmpty: boolean
  readonly onLoadMore: () => void
}

/**
 * Loads older entries of a list. The server searches a limited stretch per request to stay fast, so a page can be empty
 * although older matches exist.
 */
export function LoadMoreButton({ next, isBusy, isEmpty, onLoadMore }: LoadMoreButtonProps) {
  if (next === null || next === undefined) return null
  const searchedTo = parseIdTime(next)
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <Button disabled={isBusy} onClick={onLoadMore}>
        {isEmpty ? 'Search further back' : 'Load older'}
      </Button>
      {isEmpty && searchedTo !== null && (
        <p role="status" className="text-muted">
          Searched back to <TimeText at={searchedTo} isExact />.
        </p>
      )}
    </div>
  )
}
