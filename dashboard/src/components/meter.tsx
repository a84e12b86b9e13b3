interface MeterProps {
  /** What is measured (`label`), and the current value in words (`text`). Only screen readers read them. */
  readonly label: string
  readonly text: string
  /** The share that is used, from 0 to 1000. */
  readonly permille: number
}

const NEARLY_PERMILLE = 750
/** A bar that is not empty has at least this width, so that it can be seen. */
const SHOWN_PERMILLE_MIN = 12

/** A bar that shows how much of a limit is used. The numbers are printed next to it. */
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
