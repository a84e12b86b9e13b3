import type { ReactNode } from 'react'
import { ChevronIcon } from './chevron-icon.tsx'

/** Content that is hidden until the user opens it. */
export function Disclosure({ summary, children }: { readonly summary: string; readonly children: ReactNode }) {
  return (
    <details className="group">
      <summary className="inline-flex list-none items-center gap-2 rounded-sm py-2 font-semibold text-muted hover:text-ink [&::-webkit-details-marker]:hidden">
        <ChevronIcon className="size-3 -rotate-90 transition-transform group-open:rotate-0" />
        {summary}
      </summary>
      <div className="grid grid-cols-1 gap-4 pt-2">{children}</div>
    </details>
  )
}
