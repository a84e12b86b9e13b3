import { useNow } from './use-now.ts'
import { formatDate, formatRelativeTime, formatTime } from '../format/date.ts'

interface TimeTextProps {
  /** The time in ISO 8601. */
  readonly at: string
  /** Whether the time is shown to the minute. Otherwise only the day is shown. */
  readonly isExact?: boolean
  /** Whether the time is shown to the second. */
  readonly hasSeconds?: boolean
  /** Whether the time is shown to the minute, with its time zone. For times that are set in another zone. */
  readonly hasZone?: boolean
  /** Whether to show how long ago the time was, if it was less than a day ago. */
  readonly isRelative?: boolean
}

/** A time in the user's time zone. The tooltip has the exact time with its zone. */
export function TimeText({
  at,
  isExact = false,
  hasSeconds = false,
  hasZone = false,
  isRelative = false,
}: TimeTextProps) {
  const text = isRelative ? (
    <RelativeTime at={at} />
  ) : hasSeconds ? (
    formatTime(at, 'second')
  ) : hasZone ? (
    formatTime(at, 'zone')
  ) : isExact ? (
    formatTime(at)
  ) : (
    formatDate(at)
  )
  return (
    <time dateTime={at} title={formatTime(at, 'full')} className="whitespace-nowrap">
      {text}
    </time>
  )
}

const STEP_MS = 30_000

function RelativeTime({ at }: { readonly at: string }) {
  return formatRelativeTime(at, useNow(STEP_MS))
}
