/** Bytes that one holder keeps in memory. */
export interface Hold {
  /** Adds to the bytes. */
  grow(bytes: number): void
  /** Gives the bytes back. A second call does nothing. */
  release(): void
}

interface Holder {
  bytes: number
  readonly end: () => void
}

interface Group {
  bytes: number
  /** The oldest holder comes first. */
  readonly holders: Set<Holder>
}

/**
 * A number of bytes that groups share. A group is a person, with all workspaces that this person created, or a network
 * (D91). If all groups together hold more, the group that holds most loses its oldest holder, again and again until the
 * others fit. So a newcomer always gets room, and a group that holds less than its equal share loses nothing.
 */
export class SharedBytes {
  readonly #bytesMax: number
  readonly #groupOf: (name: string) => string
  readonly #groups = new Map<string, Group>()
  #bytes = 0

  /** `groupOf` returns the group of a workspace. By default, each workspace and each network is a group. */
  constructor(bytesMax: number, groupOf = (name: string) => name) {
    this.#bytesMax = bytesMax
    this.#groupOf = groupOf
  }

  /** How many bytes all groups hold. Never more than `bytesMax`. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Holds bytes for a workspace, person or network. `end` is called if they are taken away, possibly at once. Then they
   * are given back.
   */
  hold(caller: string, bytes: number, end: () => void): Hold {
    const name = this.#groupOf(caller)
    const group = this.#groups.get(name) ?? { bytes: 0, holders: new Set() }
    this.#groups.set(name, group)
    const holder: Holder = { bytes: 0, end }
    group.holders.add(holder)
    const grow = (more: number): void => {
      if (!group.holders.has(holder)) return
      holder.bytes += more
      group.bytes += more
      this.#bytes += more
      this.#shed()
    }
    grow(bytes)
    return { grow, release: () => this.#release(name, group, holder) }
  }

  #release(name: string, group: Group, holder: Holder): void {
    if (!group.holders.delete(holder)) return
    group.bytes -= holder.bytes
    this.#bytes -= holder.bytes
    if (group.holders.size === 0) this.#groups.delete(name)
  }

  #shed(): void {
    while (this.#bytes > this.#bytesMax) {
      const { group, name } = this.#largest()
      const [oldest] = group.holders
      if (oldest === undefined) throw new Error('a group without holders was kept')
      this.#release(name, group, oldest)
      oldest.end()
    }
  }

  #largest(): { name: string; group: Group } {
    let largest: { name: string; group: Group } | undefined
    for (const [name, group] of this.#groups) {
      if (largest === undefined || group.bytes > largest.group.bytes) largest = { name, group }
    }
    if (largest === undefined) throw new Error('bytes without a group were kept')
    return largest
  }
}
