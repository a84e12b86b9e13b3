import { AmountText } from '../../components/amount-text.tsx'

interface BalanceTextProps {
  /** Null: the chain was out of reach. */
  readonly usdc: string | null
}

/** What a wallet holds, as its chain says. */
export function BalanceText({ usdc }: BalanceTextProps) {
  return usdc === null ? <span className="text-muted">The chain does not answer</span> : <AmountText usdc={usdc} />
}
