interface CountMeterProps {
  /** What is counted, for readers of the screen. */
  readonly label: string
  readonly used: number
  readonly limit: number
}

const NEARLY_PERMILLE = 750
/** What is used shows, however little it is. */
const PERMILLE_MIN = 12

/** How much of a number is used: a bar whose numbers stand beside it. */
export function CountMeter({ label, used, limit }: CountMeterProps) {
  const permille = limit > 0 ? Math.min(1_000, Math.floor((used * 1_000) / limit)) : 1_000
  const tone = permille >= 1_000 ? 'fill-danger' : permille >= NEARLY_PERMILLE ? 'fill-live' : 'fill-accent'
  return (
    <svg
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={limit}
      aria-valuenow={Math.min(used, limit)}
      aria-valuetext={`${used} of ${limit}`}
      viewBox="0 0 1000 8"
      preserveAspectRatio="none"
      className="h-2 w-full overflow-hidden rounded-full bg-line"
    >
      <rect width={used === 0 ? 0 : Math.max(permille, PERMILLE_MIN)} height="8" className={tone} />
    </svg>
  )
}
