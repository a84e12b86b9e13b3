import { parseIdTime } from '../format/id-time.ts'
import { Button } from './button.tsx'
import { TimeText } from './time-text.tsx'

interface LoadMoreButtonProps {
  /** The last page's `next`: null at the end. */
  readonly next: string | null | undefined
  readonly isBusy: boolean
  /** The last page had nothing: then it is said how far was looked. */
  readonly isEmpty: boolean
  readonly onLoadMore: () => void
}

/** Leads to the older entries of a list. A rare thing is looked for in steps, so that each of them is quick. */
export function LoadMoreButton({ next, isBusy, isEmpty, onLoadMore }: LoadMoreButtonProps) {
  if (next === null || next === undefined) return null
  const lookedTo = parseIdTime(next)
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <Button disabled={isBusy} onClick={onLoadMore}>
        {isEmpty ? 'Search further back' : 'Older'}
      </Button>
      {isEmpty && lookedTo !== null && (
        <p role="status" className="text-muted">
          Searched back to <TimeText at={lookedTo} isExact />.
        </p>
      )}
    </div>
  )
}
