import type { ReactNode } from 'react'
import { Wordmark } from './wordmark.tsx'

interface CenteredCardProps {
  /** Whether the card has room for two columns on wide screens. */
  readonly isWide?: boolean
  readonly children: ReactNode
}

/** A single card in the middle of the window, for pages with one task. */
export function CenteredCard({ isWide = false, children }: CenteredCardProps) {
  return (
    <div className={`mx-auto grid w-full max-w-xl gap-4 px-3 py-4 sm:px-6 sm:py-10 ${isWide ? 'lg:max-w-5xl' : ''}`}>
      <header className="px-2">
        <Wordmark />
      </header>
      <main className="grid gap-6 rounded-2xl border border-line bg-surface p-5 shadow-lift sm:p-9">{children}</main>
    </div>
  )
}
