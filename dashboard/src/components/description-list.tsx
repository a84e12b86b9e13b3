import type { ReactNode } from 'react'

/** A list of terms and their values. */
export function DescriptionList({ children }: { readonly children: ReactNode }) {
  return (
    <dl className="@container grid rounded-xl border border-line bg-surface px-4 sm:px-5 [&>div+div]:border-t [&>div]:border-line">
      {children}
    </dl>
  )
}

export function DescriptionItem({ term, children }: { readonly term: string; readonly children: ReactNode }) {
  return (
    <div className="grid gap-x-6 gap-y-0.5 py-3 @lg:grid-cols-[11rem_minmax(0,1fr)] @lg:items-baseline">
      <dt className="text-muted">{term}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  )
}
