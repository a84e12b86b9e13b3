import type { ReactNode } from 'react'

interface EmptyStateProps {
  readonly title: string
  /** What it would be, and the next step towards it. */
  readonly children: ReactNode
  /** The next step itself: a link or a button. */
  readonly action?: ReactNode
}

/** In the place of what is not there yet: it says the next step. */
export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <div className="grid justify-items-center gap-2 rounded-xl border border-dashed border-edge/60 px-6 py-10 text-center">
      <p className="font-bold">{title}</p>
      <div className="max-w-md text-muted">{children}</div>
      {action !== undefined && <div className="pt-3">{action}</div>}
    </div>
  )
}
