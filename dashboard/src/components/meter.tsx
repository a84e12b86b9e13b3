import { formatAmount, toPermille } from '../format/amount.ts'

interface MeterProps {
  /** What is measured, for readers of the screen. */
  readonly label: string
  readonly usedUsdc: string
  readonly capUsdc: string
}

const NEARLY_PERMILLE = 750

/** How much of a cap is used: a bar whose numbers stand beside it. */
export function Meter({ label, usedUsdc, capUsdc }: MeterProps) {
  const permille = toPermille(usedUsdc, capUsdc)
  // What is spent shows, however little it is.
  const width = permille === 0 ? 0 : Math.max(permille, 12)
  const tone = permille >= 1_000 ? 'fill-danger' : permille >= NEARLY_PERMILLE ? 'fill-live' : 'fill-accent'
  return (
    <svg
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.floor(permille / 10)}
      aria-valuetext={`${formatAmount(usedUsdc)} of ${formatAmount(capUsdc)} USDC`}
      viewBox="0 0 1000 8"
      preserveAspectRatio="none"
      className="h-2 w-full overflow-hidden rounded-full bg-line"
    >
      <rect width={width} height="8" className={tone} />
    </svg>
  )
}
