import type { TxHash } from '../payment.ts'

/**
 * How many other payments could explain the transfers that were found on the chain. All of them have the same wallet,
 * recipient and amount.
 */
export interface EqualPayments {
  /** For each of the found transactions, how many of these other payments are recorded with its hash. */
  readonly byTransaction: ReadonlyMap<TxHash, number>
  /**
   * How many of these other payments may have been sent, but are not recorded with the hash of a found transaction.
   */
  readonly undecided: number
}

/**
 * Decides which transaction contains the payment's own transfer. `found` has one entry for each equal transfer on the
 * chain, so a transaction with two of them appears twice. Returns `absent` if all of these transfers belong to other
 * payments. Returns `unproven` if a transfer is left over, but may belong to another payment whose transaction is not
 * known.
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
