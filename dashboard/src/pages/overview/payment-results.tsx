import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { Spending } from '@bursar/server/src/console/contract/overview.ts'
import { Section } from '../../components/section.tsx'
import { formatCount } from '../../format/format-count.ts'
import { formatRate } from '../../format/format-rate.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { formatDays } from '../../format/date.ts'

const RESULTS = [
  { result: 'confirmed', text: 'Confirmed' },
  { result: 'pending', text: 'Pending' },
  { result: 'failed', text: 'Failed' },
  { result: 'refused', text: 'Rejected' },
] as const

/** The number of payments by result. Each number links to the list of those payments. */
export function PaymentResults({ spending: { counts, start, end, days } }: { readonly spending: Spending }) {
  const { to } = useWorkspace()
  return (
    <Section title={`Payment results, ${formatDays(days)}`}>
      <ul className="grid grid-cols-2 gap-px overflow-hidden rounded-xl border border-line bg-line sm:grid-cols-5">
        <li className="col-span-2 bg-surface px-5 py-4 sm:col-span-1">
          <Figure title="Success rate" note="of all confirmed and failed payments">
            {formatRate(counts.confirmed, counts.confirmed + counts.failed) ?? (
              <span className="text-muted">
                <span aria-hidden="true">–</span>
                <span className="sr-only">No payment has been confirmed or has failed yet</span>
              </span>
            )}
          </Figure>
        </li>
        {RESULTS.map(({ result, text }) => (
          <li key={result} className="bg-surface">
            <Link
              to={`${to('payments')}?${new URLSearchParams(result === 'refused' ? { status: result } : { status: result, from: start, to: end })}`}
              className="block h-full px-5 py-4 hover:bg-sunken focus-visible:-outline-offset-2"
            >
              <Figure title={text}>{formatCount(counts[result])}</Figure>
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  )
}

interface FigureProps {
  readonly title: string
  /** Explains the number. */
  readonly note?: string
  readonly children: ReactNode
}

function Figure({ title, note, children }: FigureProps) {
  return (
    <>
      <span className="block text-sm font-semibold text-muted">{title}</span>
      <span className="block text-xl font-bold tabular-nums">{children}</span>
      {note !== undefined && <span className="block text-[0.8125rem] text-muted">{note}</span>}
    </>
  )
}
