interface Line<Result> {
  readonly current: Promise<unknown>
  next: Promise<Result> | null
}

/**
 * Runs at most one read per key at a time. All callers that arrive during a read share the next read. So each caller
 * gets a result that was read after its call, and many callers cost few reads.
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
    // Only the callers that share this read get its failure. The next read starts in any case.
    const current = result.then(
      () => this.#end(key, line),
      () => this.#end(key, line),
    )
    const line: Line<Result> = { current, next: null }
    this.#lines.set(key, line)
    return result
  }

  /**
   * Removes the entry of a read that has ended, unless a next read is waiting. The next read replaces the entry when it
   * starts.
   */
  #end(key: string, line: Line<Result>): void {
    if (line.next === null) this.#lines.delete(key)
  }
}
