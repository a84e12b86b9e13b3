import type { ReactNode } from 'react'
import type { Statement } from '@bursar/server/src/console/contract/statements.ts'
import { Notice } from '../../components/notice.tsx'
import { formatAmount } from '../../format/amount.ts'
import { describeBalance, MOVEMENTS_TEXTS } from '../../format/statement-text.ts'

/** How the opening balance and the movements result in the closing balance. */
export function StatementSummary({ statement }: { readonly statement: Statement }) {
  const { opening, closing, sums, difference_usdc, gas, state } = statement
  return (
    <section aria-label="Summary" className="grid gap-4">
      <table className="w-full max-w-2xl rounded-xl border border-line bg-surface">
        <caption className="sr-only">How the balance changed, in USDC</caption>
        <tbody className="[&>tr+tr]:border-t [&>tr]:border-line">
          <Line
            title="Opening balance"
            detail={describeBalance(opening)}
            amount={formatAmount(opening.usdc)}
            isStrong
          />
          {sums.map(({ type, movements, amount_usdc }) => (
            <Line
              key={type}
              title={MOVEMENTS_TEXTS[type]}
              detail={movements.toLocaleString('en')}
              amount={`${type === 'deposit' ? '+' : '−'}${formatAmount(amount_usdc)}`}
            />
          ))}
          {difference_usdc !== null && difference_usdc !== '0' && (
            <Line
              title="Difference that no movement explains"
              amount={
                difference_usdc.startsWith('-')
                  ? `−${formatAmount(difference_usdc.slice(1))}`
                  : `+${formatAmount(difference_usdc)}`
              }
            />
          )}
          <Line
            title={state === 'open' ? 'Balance so far' : 'Closing balance'}
            detail={describeBalance(closing)}
            amount={formatAmount(closing.usdc)}
            isStrong
          />
        </tbody>
      </table>
      <Check difference={difference_usdc} isOpen={state === 'open'} />
      {gas !== null && (
        <p>
          The wallet also paid{' '}
          <span className="tabular-nums">
            {gas.amount} {gas.currency}
          </span>{' '}
          for gas.
        </p>
      )}
    </section>
  )
}

interface LineProps {
  readonly title: string
  readonly detail?: string
  readonly amount: string
  readonly isStrong?: boolean
}

function Line({ title, detail, amount, isStrong = false }: LineProps) {
  return (
    <tr className={isStrong ? 'font-semibold' : ''}>
      <th scope="row" className={`px-4 py-2.5 text-left sm:px-5 ${isStrong ? '' : 'font-normal'}`}>
        {title}
        {detail !== undefined && <span className="block text-sm font-normal text-muted">{detail}</span>}
      </th>
      <td className="px-4 py-2.5 text-right align-top tabular-nums sm:px-5">
        <span className="whitespace-nowrap">
          {amount} <span className="text-[0.85em] font-normal text-muted">USDC</span>
        </span>
      </td>
    </tr>
  )
}

function Check({ difference, isOpen }: { readonly difference: string | null; readonly isOpen: boolean }): ReactNode {
  if (isOpen) return null
  if (difference === null) {
    return (
      <Notice>
        A balance of this statement was computed from its movements, so the movements can’t be checked against the
        chain.
      </Notice>
    )
  }
  if (difference === '0') return <p className="text-success">The movements agree with the balances on the chain.</p>
  return (
    <Notice tone="danger">
      The movements don’t explain the closing balance on the chain. Ask the server operator, and look for transfers of
      this wallet in a block explorer.
    </Notice>
  )
}
