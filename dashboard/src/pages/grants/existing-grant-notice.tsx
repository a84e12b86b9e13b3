import type { Grant } from '../../api/wire-spending.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/** An agent has one grant on a wallet at most: what there is already is changed, not added to. */
export function ExistingGrantNotice({ grant }: { readonly grant: Grant }) {
  const { to } = useWorkspace()
  return (
    <div role="status">
      <Notice tone="warning">
        <p>
          <bdi className="font-semibold">{grant.agent_id}</bdi> already has a grant on{' '}
          <bdi className="font-semibold">{grant.wallet_name}</bdi>.{' '}
          {grant.status === 'pending' ? (
            <>
              It waits for a signature: <TextLink to={to('grants', grant.id)}>sign or discard it</TextLink>.
            </>
          ) : (
            <>
              <TextLink to={to('grants', grant.id, 'replace')}>Replace its policy</TextLink> instead, with one
              signature.
            </>
          )}
        </p>
      </Notice>
    </div>
  )
}
