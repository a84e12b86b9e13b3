import { useNow } from './use-now.ts'
import { formatDate, formatRelativeTime, formatTime } from '../format/date.ts'

interface TimeTextProps {
  /** ISO 8601. */
  readonly at: string
  /** To the minute, not the day. */
  readonly isExact?: boolean
  /** To the second: for what happens within a minute. */
  readonly hasSeconds?: boolean
  /** How long ago, while that is less than a day. */
  readonly isRelative?: boolean
}

/** A time in the reader's zone; the exact value, to the second and with its zone, is at hand. */
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
