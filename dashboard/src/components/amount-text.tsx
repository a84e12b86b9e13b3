import { formatAmount } from '../format/amount.ts'

/** An amount of USDC. Digits have equal width, so that amounts line up in a column. */
export function AmountText({ usdc, isStrong = false }: { readonly usdc: string; readonly isStrong?: boolean }) {
  return (
    <span className={`whitespace-nowrap tabular-nums ${isStrong ? 'font-semibold' : ''}`}>
      {formatAmount(usdc)} <span className="text-[0.85em] font-normal text-muted">USDC</span>
    </span>
  )
}
