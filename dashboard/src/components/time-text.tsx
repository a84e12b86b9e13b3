import { useNow } from './use-now.ts'
import { formatDate, formatSince, formatTime } from '../format/date.ts'

interface TimeTextProps {
  /** ISO 8601. */
  readonly at: string
  /** To the minute, not the day. */
  readonly isExact?: boolean
  /** To the second: for what happens within a minute. */
  readonly hasSeconds?: boolean
  /** How long ago, while that is less than a day. */
  readonly isSince?: boolean
}

/** A time in the reader's zone; the exact value, to the second and with its zone, is at hand. */
export function TimeText({ at, isExact = false, hasSeconds = false, isSince = false }: TimeTextProps) {
  const text = isSince ? (
    <SinceText at={at} />
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

function SinceText({ at }: { readonly at: string }) {
  return formatSince(at, useNow(STEP_MS))
}
