interface Line<Result> {
  readonly current: Promise<unknown>
  next: Promise<Result> | null
}

/**
 * Runs at most one read per key at a time. Callers that arrive during a read share the next one, so each gets a result
 * that was read after its call, however many callers there are.
 */
export class SharedReads<Result> {
  readonly #lines = new Map<string, Line<Result>>()

  async read(key: string, run: () => Promise<Result>): Promise<Result> {
    const line = this.#lines.get(key)
    if (line === undefined) return await this.#start(key, run)
    line.next ??= line.current.then(() => this.#start(key, run))
    return await line.next
  }

  #start(key: string, run: () => Promise<Result>): Promise<Result> {
    const result = run()
    // A failure is reported only to the callers that share this read. The next read starts in any case.
    const current = result.then(
      () => this.#end(key, line),
      () => this.#end(key, line),
    )
    const line: Line<Result> = { current, next: null }
    this.#lines.set(key, line)
    return result
  }

  /** If a next read is waiting, it adds its own entry when it starts. */
  #end(key: string, line: Line<Result>): void {
    if (line.next === null) this.#lines.delete(key)
  }
}
