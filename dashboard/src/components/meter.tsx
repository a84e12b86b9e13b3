interface MeterProps {
  /** What is measured, and how it stands, for readers of the screen. */
  readonly label: string
  readonly text: string
  /** How much of it is used, from 0 to 1000. */
  readonly permille: number
}

const NEARLY_PERMILLE = 750
/** What is used shows, however little it is. */
const SHOWN_PERMILLE_MIN = 12

/** How much of a limit is used: a bar whose numbers stand beside it. */
export function Meter({ label, text, permille }: MeterProps) {
  const width = permille === 0 ? 0 : Math.max(permille, SHOWN_PERMILLE_MIN)
  const tone = permille >= 1_000 ? 'fill-danger' : permille >= NEARLY_PERMILLE ? 'fill-live' : 'fill-accent'
  return (
    <svg
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.floor(permille / 10)}
      aria-valuetext={text}
      viewBox="0 0 1000 8"
      preserveAspectRatio="none"
      className="h-2 w-full overflow-hidden rounded-full bg-line"
    >
      <rect width={width} height="8" className={tone} />
    </svg>
  )
}
