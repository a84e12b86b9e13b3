import type { Agent, AgentWallet } from '@bursar/server/src/console/contract/agents.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { Notice } from '../../components/notice.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { formatShortAddress } from '../../format/address.ts'

/** How much the agent can spend from each wallet. Amounts are shown exactly as the server sent them. */
export function AgentLimits({ agent }: { readonly agent: Agent }) {
  if (agent.wallets.length === 0) {
    return (
      <Notice>
        <p>
          <strong>
            “<bdi>{agent.id}</bdi>” can’t spend now, because it has no active grant.
          </strong>{' '}
          You can connect it now. It can spend once a wallet’s owner has signed a grant for it.
        </p>
      </Notice>
    )
  }
  return (
    <ul aria-label={`Wallets and limits of ${agent.id}`} className="grid gap-3">
      {agent.wallets.map((wallet) => (
        <WalletLimits key={wallet.address} wallet={wallet} />
      ))}
    </ul>
  )
}

function WalletLimits({ wallet }: { readonly wallet: AgentWallet }) {
  const { address, max_per_tx_usdc, daily_cap_usdc, remaining_24h_usdc, expires_at } = wallet
  return (
    <li className="rounded-xl border border-line bg-sunken">
      <p className="flex flex-wrap items-center justify-between gap-x-4 border-b border-line px-4 py-2">
        <span>
          <span className="text-sm text-muted">Wallet </span>
          <span className="font-mono text-sm" title={address} aria-hidden="true">
            {formatShortAddress(address)}
          </span>
          <span className="sr-only">{address}</span>
        </span>
        <CopyButton text={address} what="the full address" isShort />
      </p>
      <dl className="grid gap-x-6 gap-y-3 px-4 pt-3.5 pb-2 sm:flex sm:flex-wrap sm:gap-x-8">
        <Limit term="Remaining now" amount={remaining_24h_usdc} />
        <Limit term="24-hour limit" amount={daily_cap_usdc} />
        <Limit term="Per-payment limit" amount={max_per_tx_usdc} />
      </dl>
      <p className="px-4 pb-3.5 text-sm text-muted">
        {expires_at === null ? (
          'The grant has no end date.'
        ) : (
          <>
            The grant expires on <TimeText at={expires_at} />.
          </>
        )}
      </p>
    </li>
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
