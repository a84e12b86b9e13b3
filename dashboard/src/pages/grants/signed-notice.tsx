import type { Grant } from '../../api/wire-spending.ts'
import { CheckIcon } from '../../components/check-icon.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** Right after the signature: it worked, and what comes next. */
export function SignedNotice({ grant }: { readonly grant: Grant }) {
  const { to } = useWorkspace()
  return (
    <p
      role="status"
      className="flex items-start gap-3 rounded-lg border border-success-line bg-success-soft px-4 py-3 text-success"
    >
      <CheckIcon className="mt-0.5 size-5 shrink-0" />
      <span>
        <strong>Signed.</strong> <bdi>{grant.agent_id}</bdi> may pay from now on. Next,{' '}
        <TextLink to={to('developers', 'examples')}>make a payment</TextLink>.
      </span>
    </p>
  )
}
