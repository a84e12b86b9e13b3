import { useEffect, useRef } from 'react'
import { Link, type LinkProps } from 'react-router'

interface Segment {
  readonly text: string
  readonly to: LinkProps['to']
  readonly isCurrent: boolean
}

interface SegmentedLinksProps {
  /** What is chosen by them, for readers of the screen. */
  readonly label: string
  readonly segments: readonly Segment[]
}

/** So much of what comes before the chosen one is seen, as a sign that there is more. */
const EDGE_PX = 24

/** A few ways to look at the same page, one of them chosen. The address says which. Where there is no room they scroll. */
export function SegmentedLinks({ label, segments }: SegmentedLinksProps) {
  const nav = useRef<HTMLElement>(null)
  const current = segments.findIndex(({ isCurrent }) => isCurrent)
  useEffect(() => {
    const chosen = nav.current?.querySelectorAll('li')[current]
    if (nav.current !== null && chosen !== undefined) nav.current.scrollLeft = chosen.offsetLeft - EDGE_PX
  }, [current])
  return (
    <nav
      ref={nav}
      aria-label={label}
      className="relative max-w-full min-w-0 overflow-x-auto justify-self-start rounded-lg border border-line bg-sunken p-0.5"
    >
      <ul className="flex w-max">
        {segments.map(({ text, to, isCurrent }) => (
          <li key={text}>
            <Link
              to={to}
              preventScrollReset
              aria-current={isCurrent ? 'true' : undefined}
              className={`flex min-h-9 items-center rounded-md whitespace-nowrap px-3 focus-visible:-outline-offset-2 text-sm font-semibold ${isCurrent ? 'bg-surface text-ink ring-1 ring-edge/50' : 'text-muted hover:text-ink'}`}
            >
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
