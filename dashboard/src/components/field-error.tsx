import type { ReactNode } from 'react'

/** The error message under a field. The field refers to it in `aria-describedby`. */
export function FieldError({ id, children }: { readonly id: string; readonly children: ReactNode }) {
  return (
    <p id={id} className="text-sm font-semibold text-danger">
      {children}
    </p>
  )
}
