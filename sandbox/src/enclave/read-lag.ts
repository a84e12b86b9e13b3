import { READ_LAG_ENTRIES_MAX, READ_LAG_MS } from './limits.ts'

export type ReadLag = ReturnType<typeof createReadLag>

interface Change {
  readonly before: unknown
  readonly atMs: number
}

/** Keeps the previous state of changed resources, for reads that lag behind (the fault `reads_lag`). */
export function createReadLag() {
  const changes = new Map<string, Change>()
  return {
    /** Records that the resource has changed. `before` is null if it was just created. */
    remember(id: string, before: unknown): void {
      const nowMs = performance.now()
      const known = changes.get(id)
      // If a resource changed several times within the lag, a lagging read returns its state before the first of these
      // changes.
      if (known === undefined || !isRecent(known, nowMs)) changes.set(id, { before, atMs: nowMs })
      const [oldest] = changes.keys()
      if (changes.size > READ_LAG_ENTRIES_MAX && oldest !== undefined) changes.delete(oldest)
    },
    /**
     * Returns the resource's previous state. Null means that it did not exist yet, undefined that it has not changed
     * recently.
     */
    recall(id: string): unknown {
      const change = changes.get(id)
      return change !== undefined && isRecent(change, performance.now()) ? change.before : undefined
    },
  }
}

function isRecent({ atMs }: Change, nowMs: number): boolean {
  return nowMs - atMs < READ_LAG_MS
}
