import type { ReactNode } from 'react'

/** A bordered list with dividers between its items. */
export function List({ children }: { readonly children: ReactNode }) {
  return (
    <ul className="divide-y divide-line rounded-xl border border-line bg-surface [&>li]:px-4 [&>li]:py-4 sm:[&>li]:px-5">
      {children}
    </ul>
  )
}

/** One item of a list, with its buttons at the end. */
export function ListItem({ children, actions }: { readonly children: ReactNode; readonly actions?: ReactNode }) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
      <div className="min-w-0 flex-1 basis-56">{children}</div>
      {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </li>
  )
}

/** Shown instead of an empty list. */
export function EmptyList({ children }: { readonly children: ReactNode }) {
  return <p className="rounded-xl border border-dashed border-line px-5 py-6 text-muted">{children}</p>
}
