import { useNavigation } from 'react-router'

/** A thin line at the lower edge of what it stands in, while a page that was asked for is on its way. */
export function NavigationProgress() {
  const isUnderWay = useNavigation().state !== 'idle'
  return (
    <div role="status" className="relative z-10 h-0">
      {isUnderWay && (
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
