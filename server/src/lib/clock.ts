/**
 * The only file that reads the machine's time (D49). All other code receives a `Clock`, and passes its time to SQL as a
 * parameter.
 */
export interface Clock {
  now(): Date
}

/** A clock with an offset from the machine's clock. In production the offset is always 0. */
export interface MovableClock extends Clock {
  setOffset(offsetMs: number): void
}

export function createClock(offsetMs = 0): MovableClock {
  let offset = offsetMs
  return {
    now: () => new Date(Date.now() + offset),
    setOffset: (next) => {
      offset = next
    },
  }
}

/**
 * Returns the milliseconds since this process started. Moving a clock does not change this time. It is for the length of
 * waits only.
 */
export function readProcessMs(): number {
  return performance.now()
}
