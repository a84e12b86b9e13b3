import { Link } from 'react-router'
import type { MetCondition } from '@bursar/server/src/console/contract/overview.ts'
import { CheckIcon } from '../../components/check-icon.tsx'
import { Section } from '../../components/section.tsx'
import { StatusBadge, type Tone } from '../../components/status-badge.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

const BADGES: Readonly<Record<MetCondition['severity'], { readonly tone: Tone; readonly text: string }>> = {
  problem: { tone: 'danger', text: 'Problem' },
  warning: { tone: 'warning', text: 'Warning' },
  task: { tone: 'neutral', text: 'To do' },
}

interface ConditionsSectionProps {
  readonly conditions: readonly MetCondition[]
  /** How many wallets have a balance that was not read yet, so that nothing is known about it. */
  readonly unread: number
}

/** Whether something is wrong, or somebody waits, the most urgent first. Says so if there is nothing. */
export function ConditionsSection({ conditions, unread }: ConditionsSectionProps) {
  if (conditions.length === 0) {
    return (
      <p className="flex items-start gap-3 rounded-xl border border-success-line bg-success-soft px-5 py-3.5 text-success">
        <CheckIcon className="mt-1 size-4 shrink-0" />
        <span>
          <strong>Nothing needs your attention.</strong> Checked: balances and limits, grants, payments, purchases,
          rejected requests, webhooks and passkeys.
          {unread > 0 && ` The balance of ${unread === 1 ? 'one wallet' : `${unread} wallets`} was not read yet.`}
        </span>
      </p>
    )
  }
  return (
    <Section title="Needs attention">
      <ul className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface">
        {conditions.map((condition) => (
          <ConditionRow key={condition.name} condition={condition} />
        ))}
      </ul>
    </Section>
  )
}

function ConditionRow({
  condition: { severity, title, advice, items, more, all },
}: {
  readonly condition: MetCondition
}) {
  const { to } = useWorkspace()
  const badge = BADGES[severity]
  return (
    <li className="grid gap-x-6 gap-y-2 px-5 py-4 lg:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]">
      <div className="grid content-start gap-1">
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <StatusBadge tone={badge.tone}>{badge.text}</StatusBadge>
          <span className="font-semibold">{title}</span>
        </p>
        <p className="text-sm text-muted">{advice}</p>
      </div>
      <ul className="grid content-start gap-0.5">
        {items.map(({ name, text, at, page, filter }) => (
          <li key={`${page.join('/')} ${text}`}>
            <Link
              to={pathOf(to(...page), filter)}
              className="-mx-2 block rounded-md px-2 py-1 text-[0.9375rem] hover:bg-sunken"
            >
              <bdi className="font-semibold wrap-anywhere underline decoration-edge underline-offset-2">{name}</bdi>{' '}
              <span className="text-muted">
                {text}
                {at !== null && (
                  <>
                    {' '}
                    <TimeText at={at} isExact />
                  </>
                )}
              </span>
            </Link>
          </li>
        ))}
        {more > 0 && (
          <li className="py-1 text-[0.9375rem]">
            <TextLink to={to(...all)}>{`and ${more} more`}</TextLink>
          </li>
        )}
      </ul>
    </li>
  )
}

function pathOf(path: string, filter: Readonly<Record<string, string>>): string {
  const search = new URLSearchParams(filter)
  return search.size === 0 ? path : `${path}?${search}`
}
