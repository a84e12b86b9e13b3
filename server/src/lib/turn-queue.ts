/**
 * A queue in which groups take turns, so that a group with many items does not delay the items of another group. Within
 * a group, items keep their order. The caller limits the number of items.
 */
export class TurnQueue<Item> {
  /** The groups with items. The group whose turn is next comes first. */
  readonly #groups = new Map<string, Item[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  sizeOf(group: string): number {
    return this.#groups.get(group)?.length ?? 0
  }

  push(group: string, item: Item): void {
    const items = this.#groups.get(group)
    if (items === undefined) this.#groups.set(group, [item])
    else items.push(item)
    this.#size += 1
  }

  /**
   * Removes and returns the next item, or returns undefined if there is none. A group for which `mayTake` returns false
   * is skipped, and keeps its turn.
   */
  take(mayTake: (group: string) => boolean = () => true): Item | undefined {
    for (const [group, items] of this.#groups) {
      if (!mayTake(group)) continue
      const item = items.shift()
      this.#groups.delete(group)
      if (items.length > 0) this.#groups.set(group, items)
      this.#size -= 1
      return item
    }
    return undefined
  }

  /** Removes an item before its turn. Returns whether the item was in the queue. */
  remove(group: string, item: Item): boolean {
    const items = this.#groups.get(group)
    const index = items?.indexOf(item) ?? -1
    if (items === undefined || index === -1) return false
    items.splice(index, 1)
    if (items.length === 0) this.#groups.delete(group)
    this.#size -= 1
    return true
  }
}
