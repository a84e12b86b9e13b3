import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { Wallet } from '@bursar/server/src/console/contract/wallets.ts'
import { CodeText } from '../../components/code-text.tsx'
import { DescriptionItem, DescriptionList } from '../../components/description-list.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { formatCreator } from '../../format/grant-state-text.ts'
import { formatOwnerTitle } from '../../format/owner-text.ts'
import { WalletRiskBadge } from '../workspace/wallet-text.tsx'
import { SignedTermsText } from './signed-terms.tsx'
import { useWorkspace } from '../workspace/use-workspace.ts'

interface GrantPropertiesProps {
  readonly grant: Grant
  /** The wallet of the grant. Null while loading. */
  readonly wallet: Wallet | null
}

export function GrantProperties({ grant, wallet }: GrantPropertiesProps) {
  const { to } = useWorkspace()
  return (
    <DescriptionList>
      <DescriptionItem term="Agent">
        <TextLink to={to('agents', grant.agent_id)}>
          <bdi className="wrap-anywhere">{grant.agent_id}</bdi>
        </TextLink>
      </DescriptionItem>
      <DescriptionItem term="Wallet">
        <span className="flex flex-wrap items-baseline gap-x-3">
          <TextLink to={to('wallets', grant.wallet)}>
            <bdi>{grant.wallet_name}</bdi>
          </TextLink>
          <CodeText text={grant.wallet} what="the wallet address" isShort />
          {wallet !== null && <WalletRiskBadge wallet={wallet} />}
        </span>
      </DescriptionItem>
      {wallet !== null && (
        <DescriptionItem term="Wallet owners">
          <ul>
            {wallet.owners.map((owner) => (
              <li key={owner.credential_id}>
                <bdi>{formatOwnerTitle(owner)}</bdi>
              </li>
            ))}
          </ul>
        </DescriptionItem>
      )}
      <DescriptionItem term="Purchases">{grant.x402 ? 'Allowed (x402 and MPP)' : 'Not allowed'}</DescriptionItem>
      <DescriptionItem term="Created">
        <TimeText at={grant.created_at} isExact />
        {grant.created_by !== null && (
          <>
            {' '}
            by <bdi>{formatCreator(grant)}</bdi>
          </>
        )}
      </DescriptionItem>
      <When name="Signed" at={grant.activated_at} by={grant.activated_by} />
      {grant.status === 'active' && (
        <DescriptionItem term="Signature">
          <SignedTermsText grant={grant} />
        </DescriptionItem>
      )}
      <When name="Suspended" at={grant.suspended_at} />
      <When name={grant.replaced_by === null ? 'Revoked' : 'Replaced'} at={grant.revoked_at} />
      {grant.replaces !== null && (
        <DescriptionItem term={grant.activated_at === null ? 'Will replace' : 'Replaces'}>
          <TextLink to={to('grants', grant.replaces)}>Previous grant</TextLink>
        </DescriptionItem>
      )}
      {grant.replaced_by !== null && (
        <DescriptionItem term="Replaced by">
          <TextLink to={to('grants', grant.replaced_by)}>Newer grant</TextLink>
        </DescriptionItem>
      )}
      <DescriptionItem term="Grant ID">
        <CodeText text={grant.id} what="the grant ID" />
      </DescriptionItem>
    </DescriptionList>
  )
}

interface WhenProps {
  readonly name: string
  readonly at: string | null
  readonly by?: string | null
}

function When({ name, at, by = null }: WhenProps) {
  if (at === null) return null
  return (
    <DescriptionItem term={name}>
      <TimeText at={at} isExact />
      {by !== null && (
        <>
          {' '}
          by <bdi>{by}</bdi>
        </>
      )}
    </DescriptionItem>
  )
}
