import { useEffect, useEffectEvent, useRef, type ReactNode } from 'react'
import { useLocation, useOutletContext } from 'react-router'

interface PageHeadingProps {
  /** The title of the browser tab. */
  readonly title: string
  /** The heading, if it differs from the title. */
  readonly children?: ReactNode
  /** A line above the heading: the workspace, or a link to the parent page. */
  readonly breadcrumb?: ReactNode
  readonly lead?: ReactNode
  /** Buttons next to the heading. */
  readonly actions?: ReactNode
  /**
   * Whether this is the heading of a further step on the same URL. The heading then takes the focus, as on a new page.
   */
  readonly isStep?: boolean
}

/**
 * The title and the first heading of a page. After navigation within the dashboard the heading takes the focus, so that
 * screen readers continue from there.
 */
export function PageHeading({ title, children = title, breadcrumb, lead, actions, isStep = false }: PageHeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { key, pathname } = useLocation()
  // On wide screens the header already shows the name of the workspace.
  const workspace = useOutletContext<{ readonly name?: string; readonly mode?: string } | undefined>()
  const isInHeader = breadcrumb !== undefined && breadcrumb === workspace?.name
  const takeFocus = useEffectEvent(() => {
    // The first page of a visit has the key `default`. On this page, the browser has already set the focus.
    if (isStep || key !== 'default') heading.current?.focus({ preventScroll: true })
  })
  // Only the path counts as a new page. A filter in the query string must not take the focus from its field.
  // oxlint-disable-next-line react/exhaustive-deps -- the path decides whether this is another page
  useEffect(() => takeFocus(), [isStep, pathname])

  return (
    <header className="flex flex-wrap items-start justify-between gap-x-6 gap-y-4">
      <title>{formatTitle(title, workspace)}</title>
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

/** The title of the browser tab. The mode comes first, because a tab shows only the beginning of a long title. */
function formatTitle(title: string, place: { readonly name?: string; readonly mode?: string } | undefined): string {
  if (place?.name === undefined || place.mode === undefined) return `${title} · Bursar`
  return `${place.mode === 'live' ? 'Live' : 'Test'}: ${title} · ${place.name} · Bursar`
}
