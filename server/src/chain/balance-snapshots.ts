import type { Chain } from './open-chain.ts'
import type { Clock } from '../lib/clock.ts'
import type { Address } from '../values/address.ts'

export type BalanceSnapshot = Awaited<ReturnType<Chain['readUsdcBalance']>>

/** How old a snapshot may be to allow a payment. Before we reject a payment, we always read the balance again. */
const SNAPSHOT_AGE_MS_MAX = 1_000
const SNAPSHOTS_MAX = 10_000

interface Entry {
  readonly readAt: number
  readonly snapshot: Promise<BalanceSnapshot>
}

/**
 * Caches balances, each with the block at which it was read. We know our own payments after that block from the
 * database (D26) and subtract them. So for a short time a cached balance is as good as a new one. It misses only new
 * deposits, and transfers that the owner made without this service.
 */
export class BalanceSnapshots {
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Returns a recent snapshot, or reads a new one. Concurrent callers share one read. */
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
