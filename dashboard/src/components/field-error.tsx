import type { ReactNode } from 'react'

/** What is wrong with a field, right under it; the field names it in `aria-describedby`. */
export function FieldError({ id, children }: { readonly id: string; readonly children: ReactNode }) {
  return (
    <p id={id} className="text-sm font-semibold text-danger">
      {children}
    </p>
  )
}
