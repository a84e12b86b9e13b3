import { useNavigation } from 'react-router'

/** A thin progress bar at the bottom of its container, shown while a page is loading. */
export function NavigationProgress() {
  const isLoading = useNavigation().state !== 'idle'
  return (
    <div role="status" className="relative z-10 h-0">
      {isLoading && (
        <>
          <span className="sr-only">Loading the page…</span>
          <span
            aria-hidden="true"
            className="absolute inset-x-0 top-0 h-0.5 origin-left animate-[late_0.15s_0.15s_both,advance_8s_0.15s_cubic-bezier(0.1,0.7,0.1,1)_both] bg-accent"
          />
        </>
      )}
    </div>
  )
}
