import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import { CheckIcon } from '../../components/check-icon.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** Shown right after signing: confirms it, and links to the next step. */
export function SignedNotice({ grant }: { readonly grant: Grant }) {
  const { to } = useWorkspace()
  return (
    <p
      role="status"
      className="flex items-start gap-3 rounded-lg border border-success-line bg-success-soft px-4 py-3 text-success"
    >
      <CheckIcon className="mt-0.5 size-5 shrink-0" />
      <span>
        <strong>Signed.</strong> <bdi>{grant.agent_id}</bdi> can pay now. Next,{' '}
        <TextLink to={to('developers', 'examples')}>send a payment</TextLink>.
      </span>
    </p>
  )
}
