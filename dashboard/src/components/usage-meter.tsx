import { Meter } from './meter.tsx'

interface UsageMeterProps {
  /** What is counted. This is the accessible name of the bar. */
  readonly label: string
  readonly used: number
  readonly limit: number
}

/** How much of a limit is used. Any use above zero is visible. */
export function UsageMeter({ label, used, limit }: UsageMeterProps) {
  const share = limit > 0 ? Math.min(1_000, Math.floor((used * 1_000) / limit)) : 1_000
  return <Meter label={label} text={`${used} of ${limit}`} permille={used > 0 ? Math.max(share, 1) : 0} />
}
