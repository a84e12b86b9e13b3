/** A workspace takes a further place only while so many times as many are free as it then holds. */
export const FREE_PER_HELD = 4

/** The places of a sender for attempts under way. */
export interface Places {
  readonly free: number
  /** How many each workspace holds, by account id; those with none are left out. */
  readonly held: ReadonlyMap<string, number>
}

/**
 * How many places one workspace may hold while so many are free (D45). The share shrinks as places are taken: workspaces
 * that take all they can get still leave some free, and the next one that comes finds a place. One place is everybody's
 * share, while there is any.
 */
export function shareOf(free: number): number {
  return Math.max(Math.floor(free / FREE_PER_HELD), 1)
}
