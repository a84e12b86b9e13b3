import type { Clock } from './clock.ts'

export interface SparingQueueOptions {
  /** How many pieces of work every turn of the event loop does, however little time there is for them. */
  readonly perTurnMin: number
  /** The share of the process's time, between 0 and 1, that the queue may take beyond `perTurnMin`. */
  readonly timeShareMax: number
  /** How long one turn works on the queue at most, in milliseconds. */
  readonly turnMsMax: number
  readonly clock: Clock
  /** Runs a callback in the next turn of the event loop. Only tests replace it. */
  readonly inNextTurn?: (run: () => void) => void
}

/**
 * Does small pieces of work in the order in which they were added, and leaves most of the time to the process's other
 * work. In each turn of the event loop, the queue works for a share of the time that the turn took. So it does more in
 * a long turn, and no piece waits for many long turns. The code that adds pieces limits their number.
 */
export class SparingQueue {
  readonly #options: Required<SparingQueueOptions>
  #pieces: (() => void)[] = []
  #lastEndedMs: number

  constructor({ inNextTurn = (run) => void setImmediate(run), ...options }: SparingQueueOptions) {
    this.#options = { ...options, inNextTurn }
    this.#lastEndedMs = this.#now()
  }

  /** Does this piece of work in one of the next turns. It must not throw. */
  add(piece: () => void): void {
    this.#pieces.push(piece)
    if (this.#pieces.length === 1) this.#options.inNextTurn(() => this.#work())
  }

  #work(): void {
    const { inNextTurn, perTurnMin, timeShareMax, turnMsMax } = this.#options
    const startedMs = this.#now()
    const otherMs = startedMs - this.#lastEndedMs
    const endMs = startedMs + Math.min(turnMsMax, (otherMs * timeShareMax) / (1 - timeShareMax))
    let done = 0
    for (const piece of this.#pieces) {
      if (done >= perTurnMin && this.#now() >= endMs) break
      piece()
      done += 1
    }
    this.#pieces = this.#pieces.slice(done)
    this.#lastEndedMs = this.#now()
    if (this.#pieces.length > 0) inNextTurn(() => this.#work())
  }

  #now(): number {
    return this.#options.clock.now().getTime()
  }
}
