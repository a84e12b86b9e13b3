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

/** A few ways to look at the same page, one of them chosen. The address says which. */
export function SegmentedLinks({ label, segments }: SegmentedLinksProps) {
  return (
    <nav aria-label={label} className="max-w-full justify-self-start rounded-lg border border-line bg-sunken p-0.5">
      <ul className="flex flex-wrap">
        {segments.map(({ text, to, isCurrent }) => (
          <li key={text}>
            <Link
              to={to}
              preventScrollReset
              aria-current={isCurrent ? 'true' : undefined}
              className={`flex min-h-9 items-center rounded-md px-3 text-sm font-semibold ${isCurrent ? 'bg-surface text-ink ring-1 ring-edge/50' : 'text-muted hover:text-ink'}`}
            >
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
