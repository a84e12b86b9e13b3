/** What waits in a `FairQueue`. */
export interface QueueEntry {
  /** The queue serves all groups in turn. */
  readonly group: string
  /** Two entries with a key in common are never taken at the same time. The one that was added first is taken first. */
  readonly keys: readonly string[]
  /** Entries with the same batch key may be taken together, but not in two batches at the same time. */
  readonly batchKey: string | null
}

/**
 * A queue that takes several entries at once, one of each group in turn, so no group has to wait for all entries of
 * another. It is bounded, in total and for each group.
 */
export class FairQueue<Entry extends QueueEntry> {
  readonly #limits: { readonly waitingMax: number; readonly waitingOfGroupMax: number }
  /** The waiting entries of each group. The group that was served most recently comes last in the map. */
  readonly #groups = new Map<string, Entry[]>()
  readonly #busy = new Set<string>()
  readonly #busyBatches = new Set<string>()
  #waiting = 0

  constructor(limits: { waitingMax: number; waitingOfGroupMax: number }) {
    this.#limits = limits
  }

  /** The number of entries that wait now. */
  get waiting(): number {
    return this.#waiting
  }

  /** Adds an entry. Returns false, and does not add it, if too many entries wait. */
  add(entry: Entry): boolean {
    const { waitingMax, waitingOfGroupMax } = this.#limits
    const entries = this.#groups.get(entry.group) ?? []
    if (this.#waiting >= waitingMax || entries.length >= waitingOfGroupMax) return false
    this.#groups.set(entry.group, entries)
    entries.push(entry)
    this.#waiting += 1
    return true
  }

  /** Removes an entry. Returns false if it does not wait any more. */
  remove(entry: Entry): boolean {
    const entries = this.#groups.get(entry.group) ?? []
    const index = entries.indexOf(entry)
    if (index === -1) return false
    this.#cut(entry.group, entries, index)
    return true
  }

  /**
   * Takes up to `max` entries, one of each group in turn. Their keys stay busy until the caller releases them. An entry
   * with a busy key stays in the queue, and so does every later entry that has a key in common with it.
   */
  take(max: number): Entry[] {
    const taken: Entry[] = []
    const passed = new Set<string>()
    let isServed = true
    while (isServed && taken.length < max) {
      isServed = false
      for (const group of [...this.#groups.keys()]) {
        if (taken.length >= max) break
        const entry = this.#takeOf(group, passed)
        if (entry === null) continue
        taken.push(entry)
        isServed = true
      }
    }
    for (const { batchKey } of taken) if (batchKey !== null) this.#busyBatches.add(batchKey)
    return taken
  }

  /**
   * Ends the batch of an entry that was taken: entries with its batch key can be taken again. The `keys` of the entry
   * stay busy.
   */
  leaveBatch({ batchKey }: Entry): void {
    if (batchKey !== null) this.#busyBatches.delete(batchKey)
  }

  /** Releases the keys of an entry that was taken and has left its batch. */
  release({ keys }: Entry): void {
    for (const key of keys) this.#busy.delete(key)
  }

  #takeOf(group: string, passed: Set<string>): Entry | null {
    const entries = this.#groups.get(group) ?? []
    for (const [index, entry] of entries.entries()) {
      const isFree =
        (entry.batchKey === null || !this.#busyBatches.has(entry.batchKey)) &&
        entry.keys.every((key) => !this.#busy.has(key) && !passed.has(key))
      if (isFree) {
        for (const key of entry.keys) this.#busy.add(key)
        this.#cut(group, entries, index)
        return entry
      }
      for (const key of entry.keys) passed.add(key)
    }
    return null
  }

  /** Removes the entry at `index`, and makes its group the last one. */
  #cut(group: string, entries: Entry[], index: number): void {
    entries.splice(index, 1)
    this.#waiting -= 1
    this.#groups.delete(group)
    if (entries.length > 0) this.#groups.set(group, entries)
  }
}
