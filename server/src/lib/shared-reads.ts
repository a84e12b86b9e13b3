interface Line<Result> {
  readonly current: Promise<unknown>
  next: Promise<Result> | null
}

/**
 * Reads of which one is under way for a key at a time. Whoever asks meanwhile shares the next one with all others who do:
 * so what they get is never older than their question, however many they are.
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
    // Whether it succeeds concerns those alone who share it.
    const current = result.then(
      () => this.#end(key, line),
      () => this.#end(key, line),
    )
    const line: Line<Result> = { current, next: null }
    this.#lines.set(key, line)
    return result
  }

  /** When others wait, what they wait for has its own line from then on. */
  #end(key: string, line: Line<Result>): void {
    if (line.next === null) this.#lines.delete(key)
  }
}
