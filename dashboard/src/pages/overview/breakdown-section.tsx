import type { Spending } from '@bursar/server/src/console/contract/overview.ts'
import { Section } from '../../components/section.tsx'
import { SegmentedLinks } from '../../components/segmented-links.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'
import { BY_CHOICES, toSearch, type Choice } from '../spending/period.ts'
import { SpendingTable } from '../spending/spending-table.tsx'

interface BreakdownSectionProps {
  readonly spending: Spending
  readonly choice: Choice
}

/** Where the money goes: by agent, recipient, wallet or website, beside the period before. */
export function BreakdownSection({ spending, choice }: BreakdownSectionProps) {
  const { to } = useWorkspace()
  const { by, rows, start, end } = spending
  return (
    <Section
      title="Where it goes"
      actions={
        <TextLink to={`${to('payments')}?${new URLSearchParams({ from: start, to: end })}`}>
          All payments of these days
        </TextLink>
      }
    >
      <div className="flex min-w-0">
        <SegmentedLinks
          label="Spending by"
          segments={BY_CHOICES.map((other) => ({
            text: other.text,
            to: toSearch({ ...choice, by: other.by }),
            isCurrent: other.by === choice.by,
          }))}
        />
      </div>
      {rows.length === 0 ? (
        <p className="rounded-xl border border-dashed border-line px-5 py-6 text-muted">
          {by === 'host' ? 'No purchases in this period.' : 'No spending in this period.'}
        </p>
      ) : (
        <SpendingTable spending={spending} />
      )}
    </Section>
  )
}
