import { AmountText } from '../../components/amount-text.tsx'

interface BalanceTextProps {
  /** The balance. Null if the chain could not be reached. */
  readonly usdc: string | null
}

/** The balance of a wallet on its chain. */
export function BalanceText({ usdc }: BalanceTextProps) {
  return usdc === null ? <span className="text-muted">Not available</span> : <AmountText usdc={usdc} />
}
