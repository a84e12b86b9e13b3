/**
 * A holder gets the nth place only while at least n times this number of places are free. For example, a third place
 * requires 12 free places.
 */
export const FREE_PER_HELD = 4

/** A sender's capacity. Each attempt in flight takes up one place. */
export interface Places {
  readonly free: number
  /** How many places each holder and each workspace uses, by their ids. Those that use none are left out. */
  readonly held: ReadonlyMap<string, number>
}

/**
 * Returns how many places one holder may use while `free` places are free (D45). The fewer places are free, the
 * smaller is this share. So holders that use their whole share still leave places free for others. The share is at
 * least one place.
 */
export function shareOf(free: number): number {
  return Math.max(Math.floor(free / FREE_PER_HELD), 1)
}
