import { useEffect, useId, useRef, type ReactNode } from 'react'

interface SectionProps {
  readonly title: string
  readonly lead?: ReactNode
  readonly children: ReactNode
  /** For a part that a deed brought up: its heading takes the focus when it comes. */
  readonly takesFocus?: boolean
}

/** A part of a page under its own heading. */
export function Section({ title, lead, children, takesFocus = false }: SectionProps) {
  const id = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (takesFocus) heading.current?.focus()
  }, [takesFocus])
  return (
    <section aria-labelledby={id} className="grid gap-4">
      <div className="grid gap-1">
        <h2 ref={heading} id={id} tabIndex={-1} className="text-lg font-bold">
          {title}
        </h2>
        {lead !== undefined && <p className="text-muted">{lead}</p>}
      </div>
      {children}
    </section>
  )
}
