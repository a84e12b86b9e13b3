import { isReceiptDue, type Payment, type TxHash } from '../domain/payments/payment.ts'

/**
 * While the head stands still, for longer than a block takes on Base, everything is looked at again so often: a
 * reorganization may have put another block at the same height, and the machine that answered may not have seen the
 * block that another one named.
 */
export const LOOK_AGAIN_MS = 3_000
/** When more payments wait than this, the looks are forgotten, and the next ones are made early. */
const LOOKS_MAX = 100_000

/** Remembers at which head each transaction's receipt was last asked for, so that it is asked for once a block. */
export class ReceiptLooks {
  readonly #confirmations: number
  readonly #heads = new Map<TxHash, bigint>()
  #head = -1n
  /** When the head moved, or when everything was looked at again. */
  #since: Date | null = null
  /** Since the head stands still, what was seen in a block is looked at too: it may stand there no longer. */
  #isStill = false

  constructor(confirmations: number) {
    this.#confirmations = confirmations
  }

  /** Chooses the payments whose receipts may say something new at this head, new transactions among them. */
  chooseDue(payments: readonly Payment[], { head, now }: { head: bigint; now: Date }): Payment[] {
    this.#follow(head, now)
    return payments.filter((payment) => {
      const looked = payment.txHash === null ? undefined : this.#heads.get(payment.txHash)
      if (looked !== undefined && looked >= head) return false
      return this.#isStill || isReceiptDue(payment, { head, confirmations: this.#confirmations })
    })
  }

  /** Notes that the receipts of these payments were asked for at this head. */
  record(payments: readonly Payment[], head: bigint): void {
    for (const { txHash } of payments) if (txHash !== null) this.#heads.set(txHash, head)
  }

  #follow(head: bigint, now: Date): void {
    const stillMs = this.#since === null ? 0 : Math.abs(now.getTime() - this.#since.getTime())
    if (head > this.#head) {
      for (const [txHash, looked] of this.#heads) if (looked < head) this.#heads.delete(txHash)
      this.#isStill = false
    } else {
      if (stillMs < LOOK_AGAIN_MS) return
      this.#heads.clear()
      this.#isStill = true
    }
    if (this.#heads.size > LOOKS_MAX) this.#heads.clear()
    this.#head = head
    this.#since = now
  }
}
