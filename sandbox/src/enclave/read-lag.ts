import { READ_LAG_ENTRIES_MAX, READ_LAG_MS } from './limits.ts'

export type ReadLag = ReturnType<typeof createReadLag>

interface Change {
  readonly before: unknown
  readonly atMs: number
}

/** What resources were a moment ago, for reads that lag behind (the fault `reads_lag`). */
export function createReadLag() {
  const changes = new Map<string, Change>()
  return {
    /** The resource has changed; `before` is null where it has just been made. */
    remember(id: string, before: unknown): void {
      const nowMs = performance.now()
      const known = changes.get(id)
      // Of several changes in a moment the first one's state is the older one.
      if (known === undefined || !isRecent(known, nowMs)) changes.set(id, { before, atMs: nowMs })
      const [oldest] = changes.keys()
      if (changes.size > READ_LAG_ENTRIES_MAX && oldest !== undefined) changes.delete(oldest)
    },
    /** The resource a moment ago: null if it was not there yet, undefined if it was as it is. */
    recall(id: string): unknown {
      const change = changes.get(id)
      return change !== undefined && isRecent(change, performance.now()) ? change.before : undefined
    },
  }
}

function isRecent({ atMs }: Change, nowMs: number): boolean {
  return nowMs - atMs < READ_LAG_MS
}
