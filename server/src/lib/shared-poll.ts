import type { FairPlaces } from './fair-places.ts'
import { startLoop, type Loop } from './loop.ts'
import type { Logger } from './logger.ts'

/** What a caller waits for. `group` is the caller's workspace. */
export interface WaitKey {
  readonly group: string
  readonly id: string
}

export interface SharedPollOptions {
  /** The name of the loop in the log. */
  readonly name: string
  /** The time from the end of one poll to the start of the next, in milliseconds. */
  readonly intervalMs: number
  /** The places of those who wait. */
  readonly places: FairPlaces
  readonly logger: Logger
  /** Returns those of the keys for which the wait is over. */
  poll(keys: readonly WaitKey[]): Promise<readonly WaitKey[]>
}

interface Waiter {
  readonly key: WaitKey
  end(): void
}

/**
 * Lets many callers wait for something that must be polled. One poll covers all of them, however many there are.
 * Without waiting callers, nothing is polled. If a poll fails, the error is logged and the callers continue to wait.
 */
export class SharedPoll {
  readonly #options: SharedPollOptions
  readonly #waiters = new Set<Waiter>()
  #loop: Loop | null = null

  constructor(options: SharedPollOptions) {
    this.#options = options
  }

  /** The number of callers that wait now. */
  get waiting(): number {
    return this.#waiters.size
  }

  /**
   * Waits until a poll returns the key, the time is over or the signal is aborted, whichever comes first. Ignores the
   * result of a poll that began before this call. If there is no place for a further caller of the group, this call
   * returns at once. Otherwise it calls `onWait`, and then waits until the place goes to a newcomer at the latest.
   */
  async wait(
    key: WaitKey,
    { msMax, signal, onWait }: { msMax: number; signal: AbortSignal; onWait?: (() => void) | undefined },
  ): Promise<void> {
    if (msMax <= 0 || signal.aborted) return
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        ticket.leave()
        this.#remove(waiter)
        resolve()
      }
      const { name, intervalMs, logger, places } = this.#options
      const ticket = places.enter(key.group, () => undefined, { end })
      if (ticket.state !== 'placed') {
        resolve()
        return
      }
      onWait?.()
      const waiter: Waiter = { key, end }
      const timer = setTimeout(end, msMax)
      signal.addEventListener('abort', end)
      this.#waiters.add(waiter)
      this.#loop ??= startLoop({ name, intervalMs, logger }, () => this.#poll())
    })
  }

  /** Ends the waits for these keys without a poll. For code that already knows that these waits are over. */
  end(keys: readonly WaitKey[]): void {
    if (this.#waiters.size === 0) return
    const over = new Set(keys.map(textOf))
    for (const waiter of this.#waiters) if (over.has(textOf(waiter.key))) waiter.end()
  }

  #remove(waiter: Waiter): void {
    this.#waiters.delete(waiter)
    if (this.#waiters.size > 0) return
    void this.#loop?.stop()
    this.#loop = null
  }

  async #poll(): Promise<void> {
    const polled = Map.groupBy(this.#waiters, ({ key }) => textOf(key))
    const keys = [...polled.values()].flatMap(([first]) => (first === undefined ? [] : [first.key]))
    for (const key of await this.#options.poll(keys)) {
      for (const waiter of polled.get(textOf(key)) ?? []) waiter.end()
    }
  }
}

function textOf({ group, id }: WaitKey): string {
  return `${group} ${id}`
}
