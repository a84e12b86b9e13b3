/** A workspace gets another place only while at least this many times as many places are free as it would then hold. */
export const FREE_PER_HELD = 4

/** A sender's capacity: the places for attempts in flight. */
export interface Places {
  readonly free: number
  /** How many places each workspace holds, by account id. Workspaces that hold none are left out. */
  readonly held: ReadonlyMap<string, number>
}

/**
 * Returns how many places one workspace may hold while `free` are free (D45). The share shrinks as places are taken, so
 * workspaces that use all they can get still leave some free for others. It is at least one place, as long as there is
 * any.
 */
export function shareOf(free: number): number {
  return Math.max(Math.floor(free / FREE_PER_HELD), 1)
}
