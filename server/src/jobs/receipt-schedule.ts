import { isReceiptDue, type Payment, type TxHash } from '../domain/payments/payment.ts'

/**
 * If the head has not moved for this long, which is longer than a block takes on Base, all receipts are read again. A
 * reorganization may have put another block at the same height, and the machine that returned a receipt may not have had
 * the block that another machine reported as the head.
 */
export const REREAD_AFTER_MS = 3_000
/** If more transactions than this are remembered, they are forgotten. Their receipts are then read earlier than needed. */
const HEADS_MAX = 100_000

/** Decides when to read the receipt of each waiting transaction: once per block. */
export class ReceiptSchedule {
  readonly #confirmations: number
  /** The head at which each transaction's receipt was last read. */
  readonly #heads = new Map<TxHash, bigint>()
  #head = -1n
  /** When the head moved, or when all receipts were last read again. */
  #since: Date | null = null
  /** Whether the head has stood still. Receipts that were seen in a block are then read too: the block may be gone. */
  #isStill = false

  constructor(confirmations: number) {
    this.#confirmations = confirmations
  }

  /** Chooses the payments whose receipts could settle them at this head. This includes new transactions. */
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
