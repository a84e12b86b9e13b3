import type { Context } from '../../domain/context.ts'
import type { ChangeKind, Place } from '../../domain/reports/changes/change.ts'
import { listRecentChanges } from '../../domain/reports/changes/list-recent-changes.ts'
import { startLoop, type Loop } from '../../lib/loop.ts'

const INTERVAL_MS = 1_000

export interface ChangeListener {
  /**
   * Called when the feed starts to report changes. From then on, the feed calls `change` for every change that becomes
   * visible.
   */
  ready(): void
  change(kinds: readonly ChangeKind[]): void
}

/**
 * A place that has listeners. `seen` has the ids of the changes that the last query found; null before the first query.
 */
interface Watch {
  readonly place: Place
  readonly listeners: Set<ChangeListener>
  seen: ReadonlySet<string> | null
}

/**
 * Notifies listeners of changes in their place. A place is one workspace in one mode. Once a second, one query covers
 * all places that have listeners in this process. Without listeners there is no query. PostgreSQL's LISTEN would be
 * faster, but some compatible databases do not support it.
 */
export class ChangeFeed {
  readonly #ctx: Pick<Context, 'db' | 'clock' | 'logger'>
  readonly #watches = new Map<string, Watch>()
  #loop: Loop | null = null
  #stopped: Promise<unknown> = Promise.resolve()

  constructor(ctx: Pick<Context, 'db' | 'clock' | 'logger'>) {
    this.#ctx = ctx
  }

  /** Adds a listener, and returns a function that removes it. */
  listen(place: Place, listener: ChangeListener): () => void {
    const key = keyOf(place)
    const watch = this.#watches.get(key) ?? { place, listeners: new Set(), seen: null }
    this.#watches.set(key, watch)
    watch.listeners.add(listener)
    if (watch.seen !== null) listener.ready()
    this.#loop ??= startLoop({ name: 'changes', intervalMs: INTERVAL_MS, logger: this.#ctx.logger }, () => this.#poll())
    return () => {
      watch.listeners.delete(listener)
      if (watch.listeners.size === 0 && this.#watches.get(key) === watch) this.#watches.delete(key)
      if (this.#watches.size === 0) this.#stop()
    }
  }

  /** Waits until the query that is running, if any, has finished. */
  async stopped(): Promise<void> {
    await this.#stopped
  }

  #stop(): void {
    const stopping = this.#loop?.stop()
    this.#loop = null
    this.#stopped = Promise.all([this.#stopped, stopping])
  }

  async #poll(): Promise<void> {
    const watches = [...this.#watches.values()]
    if (watches.length === 0) return
    const changes = await listRecentChanges(this.#ctx, { places: watches.map(({ place }) => place) })
    const found = Map.groupBy(changes, keyOf)
    for (const watch of watches) {
      const { seen } = watch
      const here = found.get(keyOf(watch.place)) ?? []
      watch.seen = new Set(here.map(({ id }) => id))
      const kinds = new Set(here.filter(({ id }) => seen?.has(id) === false).map(({ kind }) => kind))
      for (const listener of [...watch.listeners]) {
        if (seen === null) listener.ready()
        else if (kinds.size > 0) listener.change([...kinds].toSorted())
      }
    }
  }
}

function keyOf({ workspaceId, mode }: Place): string {
  return `${workspaceId} ${mode}`
}
