interface SkeletonProps {
  /** The expected number of lines of the content. */
  readonly lines?: number
}

const WIDTHS = ['w-full', 'w-11/12', 'w-10/12', 'w-full', 'w-9/12'] as const

/** A placeholder while content is loading. Screen readers read "Loading". */
export function Skeleton({ lines = 4 }: SkeletonProps) {
  return (
    <div
      role="status"
      aria-busy="true"
      className="grid animate-[late_0.2s_0.15s_both] gap-3 rounded-xl border border-line p-5"
    >
      <span className="sr-only">Loading…</span>
      {Array.from({ length: lines }, (_, index) => (
        <span
          key={index}
          aria-hidden="true"
          className={`h-5 animate-pulse rounded bg-sunken ${WIDTHS[index % WIDTHS.length] ?? 'w-full'}`}
        />
      ))}
    </div>
  )
}
