import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import { Notice } from '../../components/notice.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

/**
 * Says that the agent already has a grant on the wallet, because an agent can have only one grant per wallet. Links to
 * the page on which a person can sign, discard or replace that grant.
 */
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
              That grant is awaiting signature. <TextLink to={to('grants', grant.id)}>Sign or discard it</TextLink>.
            </>
          ) : (
            <>
              <TextLink to={to('grants', grant.id, 'replace')}>Replace this grant</TextLink> instead.
            </>
          )}
        </p>
      </Notice>
    </div>
  )
}
