import { useQuery } from '@tanstack/react-query'
import { fundsQuery } from '../../api/queries.ts'
import { findSpendable, type Spendable } from '../../format/funds-text.ts'
import { useWorkspace } from './use-workspace.ts'

/** Returns a function that says how much of what is left of a limit can really be spent from a wallet. */
export function useSpendable(): (left: string, wallet: string) => Spendable {
  const { slug, mode } = useWorkspace()
  const { data: funds, isError: hasFailed } = useQuery(fundsQuery(slug, mode))
  return (left, wallet) => findSpendable({ left, wallet, funds, hasFailed })
}
