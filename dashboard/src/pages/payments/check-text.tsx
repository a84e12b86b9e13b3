import type { ReactNode } from 'react'
import type { Refusal } from '@bursar/server/src/console/contract/refusals.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { CodeText } from '../../components/code-text.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { WalletText } from '../wallets/wallet-text.tsx'
import { detailOf, detailsOf, type CheckCode } from './refusal-checks.ts'
import { RecipientText } from './recipient-text.tsx'

/** What each check asks. */
export const CHECK_TITLES: Readonly<Record<CheckCode, string>> = {
  agent_not_found: 'There is such an agent',
  wallet_not_found: 'There is such a wallet',
  permission_not_found: 'The agent has an active grant on the wallet',
  permission_expired: 'The grant has not expired',
  contract_not_allowed: 'The grant allows USDC’s contract',
  recipient_not_allowed: 'The grant allows the recipient',
  amount_too_large: 'The amount is within the maximum at a time',
  daily_cap_exceeded: 'The amount is within the cap over 24 hours',
  plan_cap_exceeded: 'The month’s allowance is not used up',
  insufficient_balance: 'The wallet holds enough USDC',
  insufficient_gas: 'The wallet can pay for gas',
}

/** How the check that failed stood then, in numbers. */
export function CheckText({ code, refusal }: { readonly code: CheckCode; readonly refusal: Refusal }) {
  const { details, amount_usdc, agent_id, wallet, to } = refusal
  const usdc = (name: string) => <AmountText usdc={detailOf(details, name) ?? '0'} />
  switch (code) {
    case 'agent_not_found':
      return (
        <Words>
          No agent here is called “<bdi>{agent_id}</bdi>”.
        </Words>
      )
    case 'wallet_not_found':
      return (
        <Words>
          No wallet here has this address: <CodeText text={wallet} />
        </Words>
      )
    case 'permission_not_found':
      return (
        <Words>
          “<bdi>{agent_id}</bdi>” had no grant on <WalletText address={wallet} /> that an owner had signed and nobody
          had suspended.
        </Words>
      )
    case 'permission_expired':
      return (
        <Words>
          It ended <EndText at={detailOf(details, 'expires_at')} />.
        </Words>
      )
    case 'contract_not_allowed':
      return (
        <Words>
          The grant was written for another USDC contract than this server uses. Asked for:{' '}
          <CodeText text={detailOf(details, 'requested') ?? ''} />
        </Words>
      )
    case 'recipient_not_allowed':
      return (
        <>
          <Words>
            <RecipientText address={to} /> is not among those that the grant allows:
          </Words>
          <ul className="grid gap-0.5">
            {detailsOf(details, 'recipient_allowlist').map((address) => (
              <li key={address}>
                <RecipientText address={address} />
              </li>
            ))}
          </ul>
        </>
      )
    case 'amount_too_large':
      return (
        <Numbers
          rows={[
            ['Asked for', <AmountText key="" usdc={amount_usdc} />],
            ['Maximum at a time', usdc('max_per_tx_usdc')],
          ]}
        />
      )
    case 'daily_cap_exceeded':
      return (
        <Numbers
          rows={[
            ['Asked for', <AmountText key="" usdc={amount_usdc} />],
            ['Spent in the 24 hours before', usdc('spent_24h_usdc')],
            ['Cap over 24 hours', usdc('daily_cap_usdc')],
            ['Left of it', usdc('remaining_24h_usdc')],
          ]}
        />
      )
    case 'plan_cap_exceeded':
      return (
        <Numbers
          rows={[
            ['Live payments this month', detailOf(details, 'used') ?? ''],
            ['The plan’s allowance', detailOf(details, 'allowance') ?? ''],
          ]}
        />
      )
    case 'insufficient_balance':
      return (
        <Numbers
          rows={[
            ['Asked for', <AmountText key="" usdc={amount_usdc} />],
            ['In the wallet', usdc('balance_usdc')],
            ['Of that already on its way out', usdc('pending_usdc')],
          ]}
        />
      )
    case 'insufficient_gas': {
      const coin = detailOf(details, 'coin') ?? ''
      return (
        <Numbers
          rows={[
            ['Needed for one payment', `${detailOf(details, 'needed') ?? ''} ${coin}`],
            ['In the wallet', `${detailOf(details, 'balance') ?? ''} ${coin}`],
          ]}
        />
      )
    }
  }
}

function EndText({ at }: { readonly at: string | null }) {
  return at === null ? 'before the request' : <TimeText at={at} isExact />
}

function Words({ children }: { readonly children: ReactNode }) {
  return <p className="max-w-prose">{children}</p>
}

function Numbers({ rows }: { readonly rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="grid max-w-md rounded-lg border border-danger-line bg-danger-soft/40 px-4 py-1 text-ink tabular-nums">
      {rows.map(([name, value]) => (
        <div key={name} className="flex flex-wrap justify-between gap-x-6 py-1">
          <dt>{name}</dt>
          <dd className="font-semibold">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
