/** The only place that reads the time (D49). Everything else is handed a `Clock`, and passes its "now" into SQL. */
export interface Clock {
  now(): Date
}

/** A clock whose offset from the machine's can be moved; production never moves it. */
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
