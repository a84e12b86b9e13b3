import { useEffect, useRef } from 'react'
import { Link, type LinkProps } from 'react-router'

interface Segment {
  readonly text: string
  readonly to: LinkProps['to']
  readonly isCurrent: boolean
}

interface SegmentedLinksProps {
  /** What the links choose between. This is the accessible name of the list. */
  readonly label: string
  readonly segments: readonly Segment[]
}

/** How much of the link before the current one stays visible, to show that the list scrolls. */
const EDGE_PX = 24

/**
 * Links between views of the same page. The URL contains the choice. The list scrolls sideways if there is not enough
 * room.
 */
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
