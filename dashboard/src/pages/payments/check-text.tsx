import type { ReactNode } from 'react'
import type { RefusedRequest } from '@bursar/server/src/console/contract/refusals.ts'
import { AmountText } from '../../components/amount-text.tsx'
import { CodeText } from '../../components/code-text.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { formatBytes } from '../../format/format-bytes.ts'
import { WalletText } from '../workspace/wallet-text.tsx'
import { detailOf, detailsOf, type CheckCode } from './refusal-checks.ts'
import { RecipientText } from './recipient-text.tsx'

/** What each check requires. */
export const CHECK_TITLES: Readonly<Record<CheckCode, string>> = {
  agent_not_found: 'The agent exists',
  wallet_not_found: 'The wallet exists',
  permission_not_found: 'The agent has an active grant on the wallet',
  permission_expired: 'The grant has not expired',
  purchases_not_allowed: 'The grant allows purchases',
  contract_not_allowed: 'The grant allows the USDC contract',
  recipient_not_allowed: 'The grant allows the recipient',
  amount_too_large: 'The amount is within the per-payment limit',
  daily_cap_exceeded: 'The amount is within the 24-hour limit',
  plan_cap_exceeded: 'The plan has payments left in that month',
  insufficient_balance: 'The wallet contains enough USDC',
  insufficient_gas: 'The wallet can pay for gas',
  storage_full: 'The workspace can keep the seller’s response',
}

const GRANT_TEXTS: Readonly<Record<string, string>> = {
  none: 'It never had one.',
  pending: 'There was one, but the wallet’s owner had not signed it yet.',
  suspended: 'There was one, but it was suspended.',
  revoked: 'It had one before, which was revoked.',
}

/** Explains why a check failed, with the values at the time of the request. */
export function CheckText({ code, refusal }: { readonly code: CheckCode; readonly refusal: RefusedRequest }) {
  const { details, amount_usdc, agent_id, wallet, to } = refusal
  const usdc = (name: string) => {
    const amount = detailOf(details, name)
    return amount === null ? 'Not recorded' : <AmountText usdc={amount} />
  }
  switch (code) {
    case 'agent_not_found':
      return (
        <Prose>
          There was no agent “<bdi>{agent_id}</bdi>” in this mode.
        </Prose>
      )
    case 'wallet_not_found':
      return (
        <Prose>
          There was no wallet with this address in this mode: <CodeText text={wallet} />
        </Prose>
      )
    case 'permission_not_found':
      return (
        <Prose>
          “<bdi>{agent_id}</bdi>” had no active grant on <WalletText address={wallet} />.{' '}
          {GRANT_TEXTS[detailOf(details, 'reason') ?? ''] ??
            'A grant is active only if it is signed and not suspended.'}
        </Prose>
      )
    case 'permission_expired':
      return (
        <Prose>
          The grant expired <EndText at={detailOf(details, 'expires_at')} />.
        </Prose>
      )
    case 'purchases_not_allowed':
      return <Prose>The grant allows payments, but not purchases from websites that ask to be paid.</Prose>
    case 'contract_not_allowed':
      return (
        <Prose>
          The grant does not allow the USDC contract that this server uses:{' '}
          <CodeText text={detailOf(details, 'requested') ?? ''} />
        </Prose>
      )
    case 'recipient_not_allowed':
      return (
        <>
          <Prose>
            <RecipientText address={to} /> is not an allowed recipient. The grant allows:
          </Prose>
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
            ['Requested', <AmountText key="" usdc={amount_usdc} />],
            ['Per-payment limit', usdc('max_per_tx_usdc')],
          ]}
        />
      )
    case 'daily_cap_exceeded':
      return (
        <Numbers
          rows={[
            ['Requested', <AmountText key="" usdc={amount_usdc} />],
            ['Spent in the previous 24 hours', usdc('spent_24h_usdc')],
            ['24-hour limit', usdc('daily_cap_usdc')],
            ['Remaining', usdc('remaining_24h_usdc')],
          ]}
        />
      )
    case 'plan_cap_exceeded':
      return (
        <Numbers
          rows={[
            ['Live payments in that month', detailOf(details, 'used') ?? ''],
            ['Monthly payments of the plan', detailOf(details, 'allowance') ?? ''],
          ]}
        />
      )
    case 'insufficient_balance':
      return (
        <Numbers
          rows={[
            ['Requested', <AmountText key="" usdc={amount_usdc} />],
            ['Wallet balance', usdc('balance_usdc')],
            ['Reserved for pending payments', usdc('pending_usdc')],
          ]}
        />
      )
    case 'storage_full':
      return (
        <Numbers
          rows={[
            ['Kept, and reserved for purchases in progress', formatBytes(Number(detailOf(details, 'used_bytes')))],
            ['Budget of the plan', formatBytes(Number(detailOf(details, 'budget_bytes')))],
          ]}
        />
      )
    case 'insufficient_gas': {
      const coin = detailOf(details, 'coin') ?? ''
      return (
        <Numbers
          rows={[
            ['Needed for one payment', `${detailOf(details, 'needed') ?? ''} ${coin}`],
            ['Wallet balance', `${detailOf(details, 'balance') ?? ''} ${coin}`],
          ]}
        />
      )
    }
  }
}

function EndText({ at }: { readonly at: string | null }) {
  if (at === null) return 'before the request'
  return (
    <>
      on <TimeText at={at} isExact />
    </>
  )
}

function Prose({ children }: { readonly children: ReactNode }) {
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
