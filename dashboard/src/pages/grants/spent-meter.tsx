import type { Grant } from '@bursar/server/src/console/contract/grants.ts'
import { RoundedNumber } from '../../components/amount-text.tsx'
import { Meter } from '../../components/meter.tsx'
import { formatAmount, toPermille } from '../../format/amount.ts'
import { useSpendable } from '../workspace/use-spendable.ts'

type Spent = Pick<
  Grant,
  'agent_id' | 'wallet' | 'wallet_name' | 'state' | 'daily_cap_usdc' | 'spent_24h_usdc' | 'remaining_24h_usdc'
>

/**
 * How much of the 24-hour limit of a grant is spent, and how much can still be spent: what remains of the limit, but
 * never more than the wallet has. While the balance is not known, it says so instead. Nothing remains on a grant that is
 * suspended or expired, because the agent can't pay under it.
 */
export function SpentMeter({ grant }: { readonly grant: Spent }) {
  const { agent_id, wallet, wallet_name, state, daily_cap_usdc, spent_24h_usdc, remaining_24h_usdc } = grant
  const spendable = useSpendable()
  if (spent_24h_usdc === null || remaining_24h_usdc === null) return null
  const left = spendable(remaining_24h_usdc, wallet)
  return (
    <div className="grid gap-1.5">
      <p className="flex flex-wrap items-baseline justify-between gap-x-4 tabular-nums">
        {state === 'active' ? (
          left.usdc === null ? (
            <span className="text-muted">{left.text}</span>
          ) : (
            <span>
              <span className="font-semibold">
                <RoundedNumber usdc={left.usdc} />
              </span>{' '}
              <span className="text-muted">USDC remaining{left.isShort && ', all that the wallet has'}</span>
            </span>
          )
        ) : (
          <span className="text-muted">No payments are possible</span>
        )}
        <span className="text-sm text-muted">
          <RoundedNumber usdc={spent_24h_usdc} /> of <RoundedNumber usdc={daily_cap_usdc} /> USDC spent in the last 24
          hours
        </span>
      </p>
      <Meter
        label={`Spent by ${agent_id} from ${wallet_name} in the last 24 hours`}
        text={`${formatAmount(spent_24h_usdc)} of ${formatAmount(daily_cap_usdc)} USDC`}
        permille={toPermille(spent_24h_usdc, daily_cap_usdc)}
      />
    </div>
  )
}
