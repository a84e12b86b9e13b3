import { Link } from 'react-router'

export function Wordmark() {
  return (
    <Link to="/" className="inline-flex min-h-11 items-center gap-2.5 rounded-md text-lg font-bold tracking-tight">
      <svg viewBox="0 0 32 32" className="size-7" aria-hidden="true">
        <rect width="32" height="32" rx="8" className="fill-accent" />
        <g className="fill-none stroke-on-accent" strokeWidth="2.6" strokeLinecap="round" strokeLinejoin="round">
          <path d="M9 9.5h14M9 16h5M9 22.5h5" />
          <path d="m17.5 19.5 2.8 2.8 5-5.6" />
        </g>
      </svg>
      Bursar
    </Link>
  )
}
