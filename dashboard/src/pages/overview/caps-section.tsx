import { Link } from 'react-router'
import type { Overview } from '@bursar/server/src/console/contract/overview.ts'
import { Section } from '../../components/section.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { GrantBadge } from '../grants/grant-badge.tsx'
import { SpentMeter } from '../grants/spent-meter.tsx'
import { AgentLabelText } from '../workspace/agent-text.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** How much of each 24-hour limit is used, the highest share first. */
export function CapsSection({ caps, caps_count }: Pick<Overview, 'caps' | 'caps_count'>) {
  const { to } = useWorkspace()
  return (
    <Section
      title={
        caps.length < caps_count ? `24-hour limits: the ${caps.length} most used of ${caps_count}` : '24-hour limits'
      }
      actions={<TextLink to={to('grants')}>All grants</TextLink>}
    >
      <ul className="grid grid-cols-1 gap-px overflow-hidden rounded-xl border border-line bg-line md:grid-cols-2 [&>li:last-child:nth-child(odd)]:md:col-span-2">
        {caps.map((cap) => (
          <Cap key={cap.grant_id} cap={cap} />
        ))}
      </ul>
    </Section>
  )
}

function Cap({ cap }: { readonly cap: Overview['caps'][number] }) {
  const { to } = useWorkspace()
  return (
    <li className="relative grid content-start gap-2 bg-surface px-5 py-4 hover:bg-sunken">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Link
          to={to('grants', cap.grant_id)}
          className="min-w-0 font-semibold after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
        >
          <bdi>{cap.agent_id}</bdi>
          <AgentLabelText id={cap.agent_id} />
        </Link>
        <span className="text-sm text-muted">
          from <bdi>{cap.wallet_name}</bdi>
        </span>
        {cap.state !== 'active' && <GrantBadge state={cap.state} />}
      </div>
      <SpentMeter grant={cap} />
    </li>
  )
}
