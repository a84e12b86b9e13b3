import { AmountText } from '../../components/amount-text.tsx'

interface BalanceTextProps {
  /** The balance. Null if the chain could not be reached. */
  readonly usdc: string | null
  readonly isRounded?: boolean
}

/** The balance of a wallet on its chain. */
export function BalanceText({ usdc, isRounded = false }: BalanceTextProps) {
  if (usdc === null) return <span className="text-muted">Not available</span>
  return <AmountText usdc={usdc} isRounded={isRounded} />
}
