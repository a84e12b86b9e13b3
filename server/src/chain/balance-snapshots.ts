import type { Chain } from './open-chain.ts'
import type { Clock } from '../lib/clock.ts'
import type { Address } from '../values/address.ts'

export type BalanceSnapshot = Awaited<ReturnType<Chain['readUsdcBalance']>>

/** How old a snapshot may be for a payment to be admitted on it. One that refuses a payment is always read anew. */
const SNAPSHOT_AGE_MS_MAX = 1_000
const SNAPSHOTS_MAX = 10_000

interface Entry {
  readonly readAt: number
  readonly snapshot: Promise<BalanceSnapshot>
}

/**
 * Balances as of a known block. What left the wallet after that block is known from our own records (D26), so a
 * snapshot stays exact as a floor for a while: it only misses deposits, and moves made without the service.
 */
export class BalanceSnapshots {
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Reads a recent snapshot, or a new one; callers at the same time share one reading. */
  async read(chain: Chain, address: Address, ageMsMax = SNAPSHOT_AGE_MS_MAX): Promise<BalanceSnapshot> {
    const key = `${chain.mode}:${address}`
    const now = this.#clock.now().getTime()
    const known = this.#entries.get(key)
    if (known !== undefined && Math.abs(now - known.readAt) < ageMsMax) return await known.snapshot
    const entry = { readAt: now, snapshot: chain.readUsdcBalance(address) }
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    this.#dropOldest()
    try {
      return await entry.snapshot
    } catch (error) {
      if (this.#entries.get(key) === entry) this.#entries.delete(key)
      throw error
    }
  }

  #dropOldest(): void {
    if (this.#entries.size <= SNAPSHOTS_MAX) return
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined) this.#entries.delete(oldest)
  }
}
