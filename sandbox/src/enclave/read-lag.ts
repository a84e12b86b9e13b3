import { READ_LAG_ENTRIES_MAX, READ_LAG_MS } from './limits.ts'

export type ReadLag = ReturnType<typeof createReadLag>

interface Change {
  readonly before: unknown
  readonly atMs: number
}

/** The previous state of resources, for reads that lag behind (the fault `reads_lag`). */
export function createReadLag() {
  const changes = new Map<string, Change>()
  return {
    /** Records that the resource has changed. `before` is null if it was just created. */
    remember(id: string, before: unknown): void {
      const nowMs = performance.now()
      const known = changes.get(id)
      // If a resource changed several times within the lag, the state before the first change is the one that lagging
      // reads see.
      if (known === undefined || !isRecent(known, nowMs)) changes.set(id, { before, atMs: nowMs })
      const [oldest] = changes.keys()
      if (changes.size > READ_LAG_ENTRIES_MAX && oldest !== undefined) changes.delete(oldest)
    },
    /** The resource's previous state: null if it did not exist yet, undefined if it has not changed. */
    recall(id: string): unknown {
      const change = changes.get(id)
      return change !== undefined && isRecent(change, performance.now()) ? change.before : undefined
    },
  }
}

function isRecent({ atMs }: Change, nowMs: number): boolean {
  return nowMs - atMs < READ_LAG_MS
}
