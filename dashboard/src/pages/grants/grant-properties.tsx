import type { Grant, Wallet } from '../../api/wire-spending.ts'
import { CodeText } from '../../components/code-text.tsx'
import { Fact, Facts } from '../../components/description-list.tsx'
import { TextLink } from '../../components/text-link.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { nameOwner } from '../../format/owner-text.ts'
import { useWorkspace } from '../workspace/use-workspace.ts'

interface GrantFactsProps {
  readonly grant: Grant
  readonly owner: Wallet['owner'] | null
}

export function GrantFacts({ grant, owner }: GrantFactsProps) {
  const { to } = useWorkspace()
  return (
    <Facts>
      <Fact name="Agent">
        <TextLink to={to('agents', grant.agent_id)}>
          <bdi className="wrap-anywhere">{grant.agent_id}</bdi>
        </TextLink>
      </Fact>
      <Fact name="Wallet">
        <span className="flex flex-wrap items-baseline gap-x-3">
          <TextLink to={to('wallets', grant.wallet)}>
            <bdi>{grant.wallet_name}</bdi>
          </TextLink>
          <CodeText text={grant.wallet} what="the wallet’s address" isShort />
        </span>
      </Fact>
      {owner !== null && (
        <Fact name="Wallet’s owner">
          <bdi>{nameOwner(owner)}</bdi>
        </Fact>
      )}
      <Fact name="Prepared">
        <TimeText at={grant.created_at} isExact />
      </Fact>
      <When name="Signed" at={grant.activated_at} by={grant.activated_by} />
      <When name="Suspended" at={grant.suspended_at} />
      <When name={grant.replaced_by === null ? 'Revoked' : 'Replaced'} at={grant.revoked_at} />
      {grant.replaces !== null && (
        <Fact name={grant.activated_at === null ? 'Is to replace' : 'Replaces'}>
          <TextLink to={to('grants', grant.replaces)}>The earlier policy</TextLink>
        </Fact>
      )}
      {grant.replaced_by !== null && (
        <Fact name="In its place">
          <TextLink to={to('grants', grant.replaced_by)}>The later policy</TextLink>
        </Fact>
      )}
      <Fact name="Grant id">
        <CodeText text={grant.id} what="the grant’s id" />
      </Fact>
    </Facts>
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
    <Fact name={name}>
      <TimeText at={at} isExact />
      {by !== null && (
        <>
          {' '}
          by <bdi>{by}</bdi>
        </>
      )}
    </Fact>
  )
}
