/** The key of tickets without a group. No group has an empty name. */
export const NO_GROUP = ''
/** A place goes from one holder to another only if the one holds so many more, so that it does not go back again. */
const LEAD_MIN = 2

/** Something that a group holds: a place, or room in the queue before the places. */
export interface Holding {
  readonly group: string
  readonly holder: string
  /** Whether it may end although its holder has no more than the others. */
  readonly hasHadTurn: boolean
}

/** Counts what each holder and each group holds, and finds the work that ends for a newcomer. */
export class Holdings<One extends Holding> {
  readonly #counts = new Map<string, number>()
  /** The work that may end, the oldest first. */
  readonly #endable = new Set<One>()

  countOf(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  add(place: One, mayEnd: boolean): void {
    this.#change(place, 1)
    if (mayEnd) this.#endable.add(place)
  }

  delete(place: One): void {
    this.#change(place, -1)
    this.#endable.delete(place)
  }

  keep(place: One): void {
    this.#endable.delete(place)
  }

  /**
   * Returns the work that ends so that `place` has room: the newest work of the largest group of the holder who holds the
   * most. Undefined if there is none.
   */
  giverTo(place: One, ownShare: number): One | undefined {
    if (place.holder === NO_GROUP) return undefined
    const isNewcomer = this.countOf(place.holder) < ownShare
    let chosen: One | undefined
    for (const other of this.#endable) {
      const isSameHolder = other.holder === place.holder
      const lead = isSameHolder
        ? this.countOf(other.group) - this.countOf(place.group)
        : this.countOf(other.holder) - this.countOf(place.holder)
      if (lead < (other.hasHadTurn ? 1 : LEAD_MIN) || !(isNewcomer || isSameHolder)) continue
      if (chosen === undefined || this.#compare(other, chosen) >= 0) chosen = other
    }
    return chosen
  }

  #compare(left: One, right: One): number {
    const byHolder = this.countOf(left.holder) - this.countOf(right.holder)
    return byHolder === 0 ? this.countOf(left.group) - this.countOf(right.group) : byHolder
  }

  #change({ holder, group }: One, by: number): void {
    if (holder === NO_GROUP) return
    this.#add(holder, by)
    if (group !== holder) this.#add(group, by)
  }

  #add(key: string, by: number): void {
    const count = this.countOf(key) + by
    if (count === 0) this.#counts.delete(key)
    else this.#counts.set(key, count)
  }
}
