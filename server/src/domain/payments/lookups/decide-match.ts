import type { TxHash } from '../payment.ts'

/** Which other payments may account for transfers equal to a payment's own. */
export interface EqualPayments {
  /** How many of them each of the given transactions belongs to. */
  readonly byTransaction: ReadonlyMap<TxHash, number>
  /** How many may have been sent, but have no known transaction, or one that is not among the given ones. */
  readonly undecided: number
}

/**
 * Decides which transaction holds the payment's own transfer. `found` has one entry for each equal transfer on the chain.
 * Returns `absent` if other payments account for all of them. Returns `unproven` if one is left over that may belong to
 * another payment, whose transaction is not known.
 */
export function decideMatch(
  found: readonly TxHash[],
  { byTransaction, undecided }: EqualPayments,
): TxHash | 'absent' | 'unproven' {
  const free = [...new Set(found)].flatMap((hash) => {
    const transfers = found.filter((one) => one === hash).length
    return Array.from({ length: Math.max(transfers - (byTransaction.get(hash) ?? 0), 0) }, () => hash)
  })
  const [first] = free
  if (first === undefined) return 'absent'
  return undecided > 0 ? 'unproven' : first
}
