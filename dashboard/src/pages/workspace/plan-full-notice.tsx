import { useQuery } from '@tanstack/react-query'
import { planQuery } from '../../api/plan.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from './use-workspace.ts'

type Kind = 'agents' | 'wallets'

/** The plan has no room for another one. While that is not known, there is some: the server decides. */
export function useIsPlanFull(kind: Kind): boolean {
  const { slug, mode } = useWorkspace()
  const { data: use } = useQuery(planQuery(slug))
  const of = use?.[kind][mode]
  return of !== undefined && of.limit !== null && of.used >= of.limit
}

/** Says that the plan has no room for another one, and where to see about it. */
export function PlanFullNotice({ kind }: { readonly kind: Kind }) {
  const { slug, mode, to } = useWorkspace()
  const { data: use } = useQuery(planQuery(slug))
  const of = use?.[kind][mode]
  if (of === undefined) return null
  return (
    <Notice tone="warning">
      <p>
        {of.used} of {of.limit} {kind} in {mode} mode: the plan has no room for another one.{' '}
        <TextLink to={to('plan')}>See the plan</TextLink>
      </p>
    </Notice>
  )
}
