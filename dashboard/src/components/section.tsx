import { useEffect, useId, useRef, type ReactNode } from 'react'

interface SectionProps {
  readonly title: string
  readonly lead?: ReactNode
  /** Shown at the end of the heading line. */
  readonly actions?: ReactNode
  readonly children: ReactNode
  /** Whether the heading takes the focus when the section appears. For sections that open after a click. */
  readonly takesFocus?: boolean
}

/** A section of a page with its own heading. */
export function Section({ title, lead, actions, children, takesFocus = false }: SectionProps) {
  const id = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (takesFocus) heading.current?.focus()
  }, [takesFocus])
  return (
    <section aria-labelledby={id} className="grid min-w-0 grid-cols-1 gap-4">
      <div className="grid gap-1">
        <div className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1">
          <h2 ref={heading} id={id} tabIndex={-1} className="text-lg font-bold">
            {title}
          </h2>
          {actions !== undefined && actions !== false && <div className="text-[0.9375rem]">{actions}</div>}
        </div>
        {lead !== undefined && <p className="text-muted">{lead}</p>}
      </div>
      {children}
    </section>
  )
}
