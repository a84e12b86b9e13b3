import type { ReactNode } from 'react'

/** The state of a step: done, in progress, failed, not started, or never reached. */
export type StepState = 'done' | 'current' | 'failed' | 'upcoming' | 'skipped'

/** The steps of a process in order, including the steps that have not happened yet. */
export function Timeline({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <ol aria-label={label} className="rounded-xl border border-line bg-surface px-4 pt-5 pb-1 sm:px-6">
      {children}
    </ol>
  )
}

interface TimelineStepProps {
  readonly state: StepState
  readonly title: ReactNode
  /** When the step happened. */
  readonly at?: ReactNode
  readonly children?: ReactNode
}

const STATE_LABELS: Readonly<Record<StepState, string>> = {
  done: 'Done',
  current: 'In progress',
  failed: 'Failed',
  upcoming: 'Upcoming',
  skipped: 'Not reached',
}

export function TimelineStep({ state, title, at, children }: TimelineStepProps) {
  const isFaint = state === 'upcoming' || state === 'skipped'
  return (
    <li className="group relative grid grid-cols-[1.5rem_minmax(0,1fr)] gap-x-4 pb-5">
      <span
        aria-hidden="true"
        className="absolute top-7 bottom-0.5 left-3 -translate-x-1/2 border-l border-line group-last:hidden"
      />
      <Marker state={state} />
      <div className="grid min-w-0 gap-1">
        <div className="flex flex-wrap items-baseline justify-between gap-x-6">
          <h3 className={`font-semibold ${isFaint ? 'text-muted' : ''} ${state === 'failed' ? 'text-danger' : ''}`}>
            <span className="sr-only">{STATE_LABELS[state]}: </span>
            {title}
          </h3>
          {at !== undefined && <span className="text-sm text-muted">{at}</span>}
        </div>
        {children !== undefined && <div className="grid gap-2 text-[0.9375rem] text-muted">{children}</div>}
      </div>
    </li>
  )
}

function Marker({ state }: { readonly state: StepState }) {
  return (
    <svg viewBox="0 0 24 24" className="size-6" aria-hidden="true">
      {state === 'done' && <circle cx="12" cy="12" r="10" className="fill-accent" />}
      {state === 'failed' && <circle cx="12" cy="12" r="10" className="fill-danger" />}
      {state === 'done' && <path d="m7.5 12.4 3 3 6-6.6" className={`stroke-on-accent ${STROKE}`} />}
      {state === 'failed' && <path d="m8.5 8.5 7 7m0-7-7 7" className={`stroke-on-danger ${STROKE}`} />}
      {state === 'current' && (
        <>
          <circle cx="12" cy="12" r="9" className="fill-none stroke-accent" strokeWidth="2" />
          <circle cx="12" cy="12" r="4" className="fill-accent" />
        </>
      )}
      {(state === 'upcoming' || state === 'skipped') && (
        <circle
          cx="12"
          cy="12"
          r="9"
          className="fill-none stroke-edge"
          strokeWidth="1.5"
          strokeDasharray={state === 'upcoming' ? '3 3' : undefined}
        />
      )}
    </svg>
  )
}

const STROKE = 'fill-none [stroke-linecap:round] [stroke-linejoin:round] [stroke-width:2.2]'
