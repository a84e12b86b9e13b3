interface Entry<Item> {
  readonly item: Item
  readonly part: string
  readonly round: number
}

/**
 * A queue in which groups take turns, so that a group with many items does not delay the items of another group. In the
 * turns of a group, its parts take turns in the same way. Within a part, items keep their order. The caller limits the
 * number of items.
 */
export class TurnQueue<Item> {
  /** The groups with items. The group whose turn is next comes first. */
  readonly #groups = new Map<string, Entry<Item>[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  sizeOf(group: string): number {
    return this.#groups.get(group)?.length ?? 0
  }

  /** Adds an item. Without `part`, all items of the group belong together. */
  push(group: string, item: Item, part = group): void {
    const entries = this.#groups.get(group) ?? []
    const last = entries.findLast((entry) => entry.part === part)
    const round = last === undefined ? (entries[0]?.round ?? 0) : last.round + 1
    entries.splice(entries.findLastIndex((entry) => entry.round <= round) + 1, 0, { item, part, round })
    this.#groups.set(group, entries)
    this.#size += 1
  }

  /**
   * Removes and returns the next item, or returns undefined if there is none. A group for which `mayTake` returns false
   * is skipped, and keeps its turn.
   */
  take(mayTake: (group: string) => boolean = () => true): Item | undefined {
    for (const [group, entries] of this.#groups) {
      if (!mayTake(group)) continue
      const entry = entries.shift()
      this.#groups.delete(group)
      if (entries.length > 0) this.#groups.set(group, entries)
      this.#size -= 1
      return entry?.item
    }
    return undefined
  }

  /** Removes an item before its turn. Returns whether the item was in the queue. */
  remove(group: string, item: Item): boolean {
    const entries = this.#groups.get(group)
    const index = entries?.findIndex((entry) => entry.item === item) ?? -1
    if (entries === undefined || index === -1) return false
    entries.splice(index, 1)
    if (entries.length === 0) this.#groups.delete(group)
    this.#size -= 1
    return true
  }
}
