import { formatAmount } from '../format/amount.ts'

/** An amount of USDC, its digits under each other where amounts stand in a column. */
export function AmountText({ usdc, isStrong = false }: { readonly usdc: string; readonly isStrong?: boolean }) {
  return (
    <span className={`whitespace-nowrap tabular-nums ${isStrong ? 'font-semibold' : ''}`}>
      {formatAmount(usdc)} <span className="text-[0.85em] font-normal text-muted">USDC</span>
    </span>
  )
}
