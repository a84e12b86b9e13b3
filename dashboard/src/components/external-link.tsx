import type { ReactNode } from 'react'

/** A link to another site. Opens in a new tab and sends no referrer. */
export function ExternalLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  return (
    <a
      href={href}
      target="_blank"
      rel="noreferrer"
      className="rounded-sm font-semibold text-accent underline decoration-1 underline-offset-4 hover:decoration-2"
    >
      {children}
      <span className="sr-only"> (opens in a new tab)</span>
    </a>
  )
}
