import { useNow } from './use-now.ts'
import { formatDate, formatRelativeTime, formatTime } from '../format/date.ts'

interface TimeTextProps {
  /** ISO 8601. */
  readonly at: string
  /** Shows the time to the minute, not only the day. */
  readonly isExact?: boolean
  /** Shows the time to the second. */
  readonly hasSeconds?: boolean
  /** Shows how long ago it was, if less than a day. */
  readonly isRelative?: boolean
}

/** A time in the user's time zone. The tooltip has the exact time with its zone. */
export function TimeText({ at, isExact = false, hasSeconds = false, isRelative = false }: TimeTextProps) {
  const text = isRelative ? (
    <RelativeTime at={at} />
  ) : hasSeconds ? (
    formatTime(at, 'second')
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
