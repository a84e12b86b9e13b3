import { formatAmount, roundAmount } from '../format/amount.ts'

interface AmountTextProps {
  readonly usdc: string
  readonly isStrong?: boolean
  /** Whether the amount has two decimals. Screen readers and the tooltip still have the exact amount. */
  readonly isRounded?: boolean
}

/** An amount of USDC. Digits have equal width, so that amounts line up in a column. */
export function AmountText({ usdc, isStrong = false, isRounded = false }: AmountTextProps) {
  return (
    <span className={`whitespace-nowrap tabular-nums ${isStrong ? 'font-semibold' : ''}`}>
      {isRounded ? <RoundedNumber usdc={usdc} /> : formatAmount(usdc)}{' '}
      <span className="text-[0.85em] font-normal text-muted">USDC</span>
    </span>
  )
}

/** An amount of USDC with two decimals and without its unit. Screen readers and the tooltip have the exact amount. */
export function RoundedNumber({ usdc }: Pick<AmountTextProps, 'usdc'>) {
  const [exact, rounded] = [formatAmount(usdc), roundAmount(usdc)]
  if (exact === rounded) return rounded
  return (
    <span title={`${exact} USDC`}>
      <span aria-hidden="true">{rounded}</span>
      <span className="sr-only">{exact}</span>
    </span>
  )
}
