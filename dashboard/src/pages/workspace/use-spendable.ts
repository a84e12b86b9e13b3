import { useQuery } from '@tanstack/react-query'
import { fundsQuery } from '../../api/queries.ts'
import { lowerAmount } from '../../format/amount.ts'
import { useWorkspace } from './use-workspace.ts'

/** How much of a limit can be spent, although the wallet may hold less. */
export interface Spendable {
  readonly usdc: string
  /** Whether the wallet holds less than the limit allows. */
  readonly isShort: boolean
}

/**
 * Returns a function that says how much of what is left of a limit can really be spent from a wallet: never more than
 * the wallet has. While the balances are loading, or if they could not be loaded, the limit alone counts.
 */
export function useSpendable(): (left: string, wallet: string) => Spendable {
  const { slug, mode } = useWorkspace()
  const { data: funds } = useQuery(fundsQuery(slug, mode))
  return (left, wallet) => {
    const available = funds?.find(({ address }) => address === wallet)?.available_usdc ?? null
    const usdc = available === null ? left : lowerAmount(left, available)
    return { usdc, isShort: usdc !== left }
  }
}
