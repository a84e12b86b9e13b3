import type { WalletFunds } from '@bursar/server/src/console/contract/overview.ts'
import { lowerAmount, sumAmounts } from './amount.ts'

/** How much of a limit can be spent, although the wallet may hold less. */
export type Spendable =
  | {
      readonly usdc: string
      /** Whether the wallet holds less than the limit allows. */
      readonly isShort: boolean
    }
  | {
      /** Null if the wallet's balance is not known. Then nobody knows how much can be spent. */
      readonly usdc: null
      /** Says why, in place of the amount. */
      readonly text: string
    }

const LOADING = 'Loading the balance…'
const NOT_LOADED = 'Balance not available'
export const NOT_READ = 'Balance not read yet'

interface Asked {
  /** What is left of the limit. */
  readonly left: string
  readonly wallet: string
  /** Undefined while the balances are loading, or if they could not be loaded. */
  readonly funds: readonly WalletFunds[] | undefined
  readonly hasFailed: boolean
}

/** How much of what is left of a limit can really be spent from a wallet: never more than the wallet has. */
export function findSpendable({ left, wallet, funds, hasFailed }: Asked): Spendable {
  if (funds === undefined) return { usdc: null, text: hasFailed ? NOT_LOADED : LOADING }
  const found = funds.find(({ address }) => address === wallet)
  if (found === undefined) return { usdc: null, text: NOT_LOADED }
  if (found.available_usdc === null) return { usdc: null, text: NOT_READ }
  const usdc = lowerAmount(left, found.available_usdc)
  return { usdc, isShort: usdc !== left }
}

interface FundsFigure {
  readonly title: string
  /** Null if no balance has been read yet. */
  readonly usdc: string | null
}

/** What all wallets hold, and what agents can still spend from them. The titles say so if some balances are missing. */
export function sumFunds(wallets: readonly WalletFunds[]): readonly [FundsFigure, FundsFigure] {
  const known = wallets.filter(({ balance_usdc }) => balance_usdc !== null)
  const isPart = known.length > 0 && known.length < wallets.length
  const sum = (amounts: readonly (string | null)[]) =>
    known.length === 0 ? null : sumAmounts(amounts.filter((usdc) => usdc !== null))
  return [
    {
      title: isPart ? `In ${known.length} of ${wallets.length} wallets` : 'In all wallets',
      usdc: sum(known.map(({ balance_usdc }) => balance_usdc)),
    },
    {
      title: isPart ? 'Agents can still spend from these now' : 'Agents can still spend now',
      usdc: sum(known.map(({ can_spend_usdc }) => can_spend_usdc)),
    },
  ]
}

interface ShownBalance {
  readonly usdc: string
  /** When an older balance was read, because the chain cannot be read now. Null for the balance of now. */
  readonly readAt: string | null
}

/** The balance of a wallet, or, if the chain cannot be read now, the balance that was stored last. Null without either. */
export function balanceOf(
  { address, balance_usdc }: { readonly address: string; readonly balance_usdc: string | null },
  stored: readonly WalletFunds[] | undefined,
): ShownBalance | null {
  if (balance_usdc !== null) return { usdc: balance_usdc, readAt: null }
  const found = stored?.find((funds) => funds.address === address)
  if (found === undefined || found.balance_usdc === null) return null
  return { usdc: found.balance_usdc, readAt: found.read_at }
}
