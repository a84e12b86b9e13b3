import type { Clock } from './clock.ts'

export interface SparingQueueOptions {
  /** How many pieces of work every turn of the event loop does, even if no time is left for them. */
  readonly perTurnMin: number
  /** The share of all time, between 0 and 1, that the queue may take beyond `perTurnMin`. */
  readonly timeShareMax: number
  /** How much time the queue can save up while it has little to do, in milliseconds. */
  readonly savedMsMax: number
  readonly clock: Clock
  /** Runs a callback in the next turn of the event loop. Only tests replace it. */
  readonly inNextTurn?: (run: () => void) => void
}

/**
 * Does small pieces of work in the order in which they were added, and leaves most of the time to the process's other
 * work. The queue may take a share of all time. What it has not taken, it saves up to a limit. A piece is done at once
 * while time is left, and otherwise in one of the next turns of the event loop. The code that adds pieces limits their
 * number.
 */
export class SparingQueue {
  readonly #options: Required<SparingQueueOptions>
  #pieces: (() => void)[] = []
  #savedMs: number
  #lastMs: number

  constructor({ inNextTurn = (run) => void setImmediate(run), ...options }: SparingQueueOptions) {
    this.#options = { ...options, inNextTurn }
    this.#savedMs = options.savedMsMax
    this.#lastMs = this.#now()
  }

  /** Does this piece of work, now or in one of the next turns. It must not throw. */
  add(piece: () => void): void {
    if (this.#pieces.length === 0 && this.#hasTime()) {
      this.#do(piece)
      return
    }
    this.#pieces.push(piece)
    if (this.#pieces.length === 1) this.#options.inNextTurn(() => this.#work())
  }

  #work(): void {
    let done = 0
    for (const piece of this.#pieces) {
      if (done >= this.#options.perTurnMin && !this.#hasTime()) break
      done += 1
      this.#do(piece)
    }
    this.#pieces = this.#pieces.slice(done)
    if (this.#pieces.length > 0) this.#options.inNextTurn(() => this.#work())
  }

  #hasTime(): boolean {
    this.#save(this.#now())
    return this.#savedMs > 0
  }

  #save(nowMs: number): void {
    const { timeShareMax, savedMsMax } = this.#options
    const passedMs = Math.max(0, nowMs - this.#lastMs)
    this.#savedMs = Math.min(savedMsMax, this.#savedMs + passedMs * timeShareMax)
    this.#lastMs = nowMs
  }

  #do(piece: () => void): void {
    const startedMs = this.#now()
    piece()
    const endedMs = this.#now()
    this.#save(endedMs)
    this.#savedMs = Math.max(0, this.#savedMs - Math.max(0, endedMs - startedMs))
  }

  #now(): number {
    return this.#options.clock.now().getTime()
  }
}
