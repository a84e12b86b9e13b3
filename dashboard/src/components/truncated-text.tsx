import type { ReactNode } from 'react'

interface TruncatedTextProps {
  /** The whole of it, for what is cut off. */
  readonly title?: string | undefined
  readonly isFaint?: boolean
  readonly children: ReactNode
}

/** What may be too long for its cell in a table: one line of it is shown, two on a phone. */
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
