import { useEffect, useRef, type ReactNode } from 'react'
import { useLocation } from 'react-router'

interface PageHeadingProps {
  /** The page's title in the browser's tab. */
  readonly title: string
  /** The heading, where it is more than the title. */
  readonly children?: ReactNode
  /** A line above it that says where one is. */
  readonly place?: string
  readonly lead?: ReactNode
  /** A further step of the same page: the heading takes the focus as if it were a page of its own. */
  readonly isStep?: boolean
}

/** A page's title and first heading. Opened from another page, the heading takes the focus: there reading goes on. */
export function PageHeading({ title, children = title, place, lead, isStep = false }: PageHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { key } = useLocation()
  useEffect(() => {
    // The first page of a visit has the key `default`; there the browser has put the focus well.
    if (isStep || key !== 'default') heading.current?.focus({ preventScroll: true })
  }, [isStep, key])

  return (
    <header className="grid gap-2">
      <title>{`${title} · Bursar`}</title>
      {place !== undefined && <p className="text-sm font-semibold text-muted">{place}</p>}
      <h1 ref={heading} tabIndex={-1} className="text-2xl leading-tight font-bold sm:text-[1.75rem]">
        {children}
      </h1>
      {lead !== undefined && <div className="text-muted">{lead}</div>}
    </header>
  )
}
