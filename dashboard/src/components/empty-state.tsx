import type { ReactNode } from 'react'

interface EmptyStateProps {
  readonly title: string
  /** What would be shown here, and what to do next. */
  readonly children: ReactNode
  /** A link or a button for the next step. */
  readonly action?: ReactNode
}

/** Shown instead of content that does not exist yet. Says what to do next. */
export function EmptyState({ title, children, action }: EmptyStateProps) {
  return (
    <div className="grid justify-items-center gap-2 rounded-xl border border-dashed border-edge/60 px-6 py-10 text-center">
      <p className="font-bold">{title}</p>
      <div className="max-w-md text-muted">{children}</div>
      {action !== undefined && action !== false && <div className="pt-3">{action}</div>}
    </div>
  )
}
