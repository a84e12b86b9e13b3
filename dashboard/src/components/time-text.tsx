import { formatDate, formatTime } from '../format/date.ts'

interface TimeTextProps {
  /** ISO 8601. */
  readonly at: string
  /** To the minute, not the day. */
  readonly isExact?: boolean
}

export function TimeText({ at, isExact = false }: TimeTextProps) {
  return (
    <time dateTime={at} title={formatTime(at)} className="whitespace-nowrap">
      {isExact ? formatTime(at) : formatDate(at)}
    </time>
  )
}
