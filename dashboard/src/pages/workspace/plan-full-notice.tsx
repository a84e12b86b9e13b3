import { useQuery } from '@tanstack/react-query'
import { planQuery } from '../../api/queries.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from './use-workspace.ts'

type Kind = 'agents' | 'wallets'

/** Whether the plan allows no more agents or wallets. False while loading: the server checks the limit in any case. */
export function useIsPlanFull(kind: Kind): boolean {
  const { slug, mode } = useWorkspace()
  const { data: use } = useQuery(planQuery(slug))
  const usage = use?.[kind][mode]
  return usage !== undefined && usage.limit !== null && usage.used >= usage.limit
}

/** Says that the plan allows no more agents or wallets, with a link to the plan. */
export function PlanFullNotice({ kind }: { readonly kind: Kind }) {
  const { slug, mode, to } = useWorkspace()
  const { data: use } = useQuery(planQuery(slug))
  const usage = use?.[kind][mode]
  if (usage === undefined) return null
  return (
    <Notice tone="warning">
      <p>
        You use {usage.used} of {usage.limit} {kind} in {mode} mode. Your plan does not allow more.{' '}
        <TextLink to={to('plan')}>View plan</TextLink>
      </p>
    </Notice>
  )
}
