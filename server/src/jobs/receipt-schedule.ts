import { isReceiptDue, type Payment, type TxHash } from '../domain/payments/payment.ts'

/**
 * If the chain's head has not moved for this long, all receipts are read again, for two reasons. A reorganization may
 * have put another block at the same height. And the machine that responded may not have had the block that another
 * machine reported as the head. The time is longer than a block takes on Base.
 */
export const REREAD_AFTER_MS = 3_000
/**
 * How many transactions we remember. If there are more, we forget all of them, and read their receipts earlier than
 * needed.
 */
const HEADS_MAX = 100_000

/**
 * Decides when to read the receipts of pending payments: once per block, and once more whenever
 * the chain's head has not moved for a while.
 */
export class ReceiptSchedule {
  readonly #confirmations: number
  /** The head at which each transaction's receipt was last read. */
  readonly #heads = new Map<TxHash, bigint>()
  #head = -1n
  /** When the head last moved, or when all receipts were last read again. */
  #since: Date | null = null
  /**
   * Whether the head has not moved for `REREAD_AFTER_MS`. Then we also read receipts that we have seen in a block,
   * because that block may no longer be part of the chain.
   */
  #isStill = false

  constructor(confirmations: number) {
    this.#confirmations = confirmations
  }

  /** Returns the payments whose receipts may settle them at this head. This includes payments with new transactions. */
  chooseDue(payments: readonly Payment[], { head, now }: { head: bigint; now: Date }): Payment[] {
    this.#follow(head, now)
    return payments.filter((payment) => {
      const readAt = payment.txHash === null ? undefined : this.#heads.get(payment.txHash)
      if (readAt !== undefined && readAt >= head) return false
      return this.#isStill || isReceiptDue(payment, { head, confirmations: this.#confirmations })
    })
  }

  /** Records that the receipts of these payments were read at this head. */
  record(payments: readonly Payment[], head: bigint): void {
    for (const { txHash } of payments) if (txHash !== null) this.#heads.set(txHash, head)
  }

  #follow(head: bigint, now: Date): void {
    const stillMs = this.#since === null ? 0 : Math.abs(now.getTime() - this.#since.getTime())
    if (head > this.#head) {
      for (const [txHash, readAt] of this.#heads) if (readAt < head) this.#heads.delete(txHash)
      this.#isStill = false
    } else {
      if (stillMs < REREAD_AFTER_MS) return
      this.#heads.clear()
      this.#isStill = true
    }
    if (this.#heads.size > HEADS_MAX) this.#heads.clear()
    this.#head = head
    this.#since = now
  }
}
