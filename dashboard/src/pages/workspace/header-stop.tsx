import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Mode } from '@bursar/server/src/console/contract/fields.ts'
import { stopsQuery } from '../../api/queries.ts'
import { pathTo } from '../../navigation/paths.ts'
import { StopButton } from './stop-button.tsx'

const SHAPE_CLASS =
  'inline-flex min-h-10 shrink-0 items-center gap-2 rounded-lg border px-2.5 text-sm font-semibold whitespace-nowrap'

/**
 * The button that stops all agents of a mode. While such a stop is in force, a link to the page about it, which has the
 * button too: for grants that were signed since.
 */
export function HeaderStop({ slug, mode }: { readonly slug: string; readonly mode: Mode }) {
  const { data: stops = [] } = useQuery(stopsQuery(slug, mode))
  const isStopped = stops.some(({ agent_id, wallet }) => agent_id === null && wallet === null)
  if (isStopped) {
    return (
      <Link
        to={pathTo(slug, mode, 'stop')}
        className={`${SHAPE_CLASS} border-transparent bg-danger text-on-danger hover:bg-danger-strong`}
      >
        <StopSign>
          <span className="max-xl:sr-only">Agents stopped</span>
        </StopSign>
      </Link>
    )
  }
  return (
    <StopButton
      slug={slug}
      mode={mode}
      label="Stop all agents"
      title={`Stop all agents in ${mode} mode?`}
      trigger={{
        className: `${SHAPE_CLASS} border-danger-line text-danger hover:bg-danger-soft`,
        children: (
          <StopSign>
            <span className="hidden xl:inline">Stop all agents</span>
          </StopSign>
        ),
      }}
    />
  )
}

/** A stop sign with a text beside it. Narrow screens show only the sign. */
function StopSign({ children }: { readonly children: ReactNode }) {
  return (
    <>
      <svg viewBox="0 0 20 20" className="size-4 fill-current" aria-hidden>
        <path d="M6.3 1.5h7.4l4.8 4.8v7.4l-4.8 4.8H6.3l-4.8-4.8V6.3z" />
      </svg>
      {children}
    </>
  )
}
