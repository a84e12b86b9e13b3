import { useEffect, useEffectEvent, useRef, type ReactNode } from 'react'
import { useLocation, useOutletContext } from 'react-router'

interface PageHeadingProps {
  /** The page's title in the browser's tab. */
  readonly title: string
  /** The heading, where it is more than the title. */
  readonly children?: ReactNode
  /** A line above it that says where one is. */
  readonly breadcrumb?: ReactNode
  readonly lead?: ReactNode
  /** What can be done with what the page is about. */
  readonly actions?: ReactNode
  /** A further step of the same page: the heading takes the focus as if it were a page of its own. */
  readonly isStep?: boolean
}

/** A page's title and first heading. Opened from another page, the heading takes the focus: there reading goes on. */
export function PageHeading({ title, children = title, breadcrumb, lead, actions, isStep = false }: PageHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { key, pathname } = useLocation()
  // A workspace's name stands in the header already, where that has room for it.
  const around = useOutletContext<{ readonly name?: string } | undefined>()
  const isInHeader = breadcrumb !== undefined && breadcrumb === around?.name
  const takeFocus = useEffectEvent(() => {
    // The first page of a visit has the key `default`; there the browser has put the focus well.
    if (isStep || key !== 'default') heading.current?.focus({ preventScroll: true })
  })
  // A filter in the address makes no new page: whoever types it keeps the focus.
  // oxlint-disable-next-line react/exhaustive-deps -- a page of the same kind is another one by its path
  useEffect(() => takeFocus(), [isStep, pathname])

  return (
    <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-4">
      <title>{`${title} · Bursar`}</title>
      <div className="grid min-w-0 flex-1 basis-80 gap-2">
        {breadcrumb !== undefined && (
          <p className={`text-sm font-semibold text-muted ${isInHeader ? 'truncate md:hidden' : ''}`}>{breadcrumb}</p>
        )}
        <h1 ref={heading} tabIndex={-1} className="text-2xl leading-tight font-bold sm:text-[1.75rem]">
          {children}
        </h1>
        {lead !== undefined && <div className="max-w-prose text-muted">{lead}</div>}
      </div>
      {actions !== undefined && <div className="flex flex-wrap items-center gap-3">{actions}</div>}
    </header>
  )
}
