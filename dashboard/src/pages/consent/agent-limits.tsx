import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import type { Recipient } from '@bursar/server/src/console/contract/recipients.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { Notice } from '../../components/notice.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { formatShortAddress } from '../../format/address.ts'
import { explainAgentState } from '../../format/agent-state-text.ts'
import { GrantBadge } from '../grants/grant-badge.tsx'
import { RecipientList } from '../grants/recipient-list.tsx'

interface AgentLimitsProps {
  readonly agent: Agent
  /** All grants of the agent. */
  readonly grants: readonly Grant[]
  /** The address book of the workspace. */
  readonly recipients: readonly Recipient[]
  /** Whether the application is to buy web resources. */
  readonly isBuying: boolean
}

/**
 * How much the agent can spend, from which wallets, and to which recipients. Amounts are shown exactly as the server
 * sent them.
 */
export function AgentLimits({ agent, grants, recipients, isBuying }: AgentLimitsProps) {
  const open = grants.filter(({ status }) => status !== 'revoked')
  const usable = open.filter(({ state }) => state === 'active')
  const others = open.filter(({ state }) => state !== 'active')
  const obstacle = explainAgentState(agent.state)
  return (
    <>
      {usable.length === 0 && obstacle !== null && (
        <Notice>
          <p>
            <strong>
              “<bdi>{agent.id}</bdi>” can’t spend now, because {obstacle.why}.
            </strong>{' '}
            {obstacle.next} You can already connect the application.
          </p>
        </Notice>
      )}
      {isBuying && usable.length > 0 && !usable.some(({ x402 }) => x402) && (
        <Notice tone="warning">
          <p>
            <strong>
              “<bdi>{agent.id}</bdi>” can’t buy web resources now, because none of its grants allows purchases.
            </strong>{' '}
            To allow them, replace a grant. You can already connect the application.
          </p>
        </Notice>
      )}
      {open.length > 0 && (
        <ul aria-label={`Wallets and limits of ${agent.id}`} className="grid gap-3">
          {[...usable, ...others].map((grant) => (
            <WalletLimits key={grant.id} grant={grant} recipients={recipients} isBuying={isBuying} />
          ))}
        </ul>
      )}
    </>
  )
}

type WalletLimitsProps = { readonly grant: Grant } & Pick<AgentLimitsProps, 'recipients' | 'isBuying'>

function WalletLimits({ grant, recipients, isBuying }: WalletLimitsProps) {
  const { wallet, wallet_name, state, max_per_tx_usdc, daily_cap_usdc, remaining_24h_usdc, recipient_allowlist } = grant
  return (
    <li className="rounded-xl border border-line bg-sunken">
      <p className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b border-line px-4 py-2">
        <span className="flex min-w-0 flex-wrap items-baseline gap-x-2">
          <span className="sr-only">Wallet </span>
          <bdi className="font-bold wrap-anywhere">{wallet_name}</bdi>
          <span className="font-mono text-sm text-muted" title={wallet} aria-hidden="true">
            {formatShortAddress(wallet)}
          </span>
          <span className="sr-only">{wallet}</span>
        </span>
        <span className="flex items-center gap-3">
          {state !== 'active' && <GrantBadge state={state} />}
          <CopyButton text={wallet} what="the full address" isShort />
        </span>
      </p>
      <dl className="grid gap-x-6 gap-y-3 px-4 pt-3.5 pb-2 sm:flex sm:flex-wrap sm:gap-x-8">
        <Limit term="24-hour limit" amount={daily_cap_usdc} />
        {state === 'active' && remaining_24h_usdc !== null && (
          <Limit term="Left of it now" amount={remaining_24h_usdc} />
        )}
        <Limit term="Per-payment limit" amount={max_per_tx_usdc} />
      </dl>
      <div className="grid gap-2 px-4 pb-3.5 text-sm">
        {recipient_allowlist.length === 0 ? (
          <p>
            To <strong>any recipient</strong>.
          </p>
        ) : (
          <>
            <p className="text-muted">
              Only to {recipient_allowlist.length === 1 ? 'this recipient' : 'these recipients'}:
            </p>
            <RecipientList addresses={recipient_allowlist} recipients={recipients} />
          </>
        )}
        {isBuying && (
          <p>
            {grant.x402
              ? 'Also buys web resources, within these limits.'
              : 'This grant doesn’t allow buying web resources.'}
          </p>
        )}
        <p className="text-muted">
          <EndDate grant={grant} />
        </p>
      </div>
    </li>
  )
}

function EndDate({ grant: { state, expires_at } }: { readonly grant: Grant }) {
  if (expires_at === null) return 'The grant has no end date.'
  return (
    <>
      The grant {state === 'expired' ? 'expired' : 'expires'} on <TimeText at={expires_at} />.
    </>
  )
}

function Limit({ term, amount }: { readonly term: string; readonly amount: string }) {
  return (
    <div className="flex flex-wrap items-baseline justify-between gap-x-4 sm:block">
      <dt className="text-sm text-muted">{term}</dt>
      <dd className="font-bold tabular-nums">
        {amount} <span className="font-semibold">USDC</span>
      </dd>
    </div>
  )
}
