import type { ReactNode } from 'react'

interface TruncatedTextProps {
  /** The full text, shown as a tooltip. */
  readonly title?: string | undefined
  readonly isFaint?: boolean
  readonly children: ReactNode
}

/** Text that may be too long for its table cell. Truncated to one line, or two on a phone. */
export function TruncatedText({ title, isFaint = false, children }: TruncatedTextProps) {
  return (
    <span
      title={title}
      className={`max-md:line-clamp-2 max-md:wrap-anywhere md:block md:truncate ${isFaint ? 'text-muted' : ''}`}
    >
      {children}
    </span>
  )
}
