/** What the client needs from its surroundings. A test replaces it. */
export interface Runtime {
  fetch(url: string, init: RequestInit): Promise<Response>
  /** The time now, in milliseconds since 1970. */
  now(): number
  /**
   * Waits between attempts: resolves after `ms` milliseconds, or as soon as the signal is aborted. It never rejects.
   */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>
  /** The time limit of an attempt: calls `onEnd` after `ms` milliseconds. Returns a function that prevents this. */
  startTimer(ms: number, onEnd: () => void): () => void
  /** A random number from 0 up to, but not including, 1. */
  random(): number
}

const RANDOM_RANGE = 2 ** 32

/** The real surroundings: the global `fetch`, `crypto`, clock and timers. */
export const REAL_RUNTIME: Runtime = {
  // The global is looked up at each call, so that tools that replace it later still see the requests.
  fetch: (url, init) => globalThis.fetch(url, init),
  now: () => Date.now(),
  sleep,
  startTimer: (ms, onEnd) => {
    const timer = setTimeout(onEnd, ms)
    return () => clearTimeout(timer)
  },
  random: () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / RANDOM_RANGE,
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve()
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}
