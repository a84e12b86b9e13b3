import { CheckIcon } from '../../components/check-icon.tsx'
import { AmountText } from '../../components/amount-text.tsx'
import { TimeText } from '../../components/time-text.tsx'
import { fromMicro, toMicro } from '../../format/amount.ts'
import type { ReactNode } from 'react'
import type { PaymentDetail } from '@bursar/server/src/console/contract/payments.ts'

/** The limits that an agent's payment was checked against, with the values at that time. */
export function LimitList({ detail: { payment, grant } }: { readonly detail: PaymentDetail }) {
  const { amount_usdc, limits, mode } = payment
  if (limits === null || grant === null) return null
  const after = fromMicro(toMicro(limits.spent_24h_usdc) + toMicro(amount_usdc))
  return (
    <ul className="grid gap-1">
      <Passed>
        <AmountText usdc={amount_usdc} /> is within the per-payment limit of{' '}
        <AmountText usdc={limits.max_per_tx_usdc} />
      </Passed>
      <Passed>
        <AmountText usdc={limits.spent_24h_usdc} /> was spent in the previous 24 hours. This payment makes it{' '}
        <AmountText usdc={after} />, within the 24-hour limit of <AmountText usdc={limits.daily_cap_usdc} />
      </Passed>
      <Passed>
        {grant.recipient_allowlist.length === 0
          ? 'The grant allows any recipient'
          : grant.recipient_allowlist.length === 1
            ? 'The recipient is the only one that the grant allows'
            : `The recipient is one of the ${grant.recipient_allowlist.length} that the grant allows`}
      </Passed>
      <Passed>
        {grant.expires_at === null ? (
          'The grant has no end date'
        ) : (
          <>
            The grant had not expired. Its end date is <TimeText at={grant.expires_at} isExact />
          </>
        )}
      </Passed>
      {mode === 'live' && <Passed>The plan had payments left in that month</Passed>}
      <Passed>The wallet contained enough USDC</Passed>
    </ul>
  )
}

function Passed({ children }: { readonly children: ReactNode }) {
  return (
    <li className="grid grid-cols-[1rem_minmax(0,1fr)] gap-x-2">
      <CheckIcon className="mt-1 size-4 text-success" />
      <span>{children}</span>
    </li>
  )
}
