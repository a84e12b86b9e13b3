import { ErrorNotice } from './error-notice.tsx'
import { LoadMoreButton } from './load-more-button.tsx'

interface LoadMoreProps {
  /** An infinite query for a list whose pages are never empty, except the last one. */
  readonly query: {
    readonly data: { readonly pages: readonly { readonly next: string | null }[] } | undefined
    readonly error: unknown
    readonly isFetchingNextPage: boolean
    readonly fetchNextPage: () => Promise<unknown>
  }
}

/** Shown below a list with the newest entry first. Loads older entries, and shows an error if that fails. */
export function LoadMore({ query }: LoadMoreProps) {
  if (query.data === undefined) return null
  return (
    <>
      <ErrorNotice error={query.error} />
      <LoadMoreButton
        next={query.data.pages.at(-1)?.next}
        isBusy={query.isFetchingNextPage}
        isEmpty={false}
        onLoadMore={() => void query.fetchNextPage()}
      />
    </>
  )
}
