/**
 * The enclave's clock: the machine's clock plus an offset, so that the sandbox can move it together with the server's
 * (D49).
 */
export interface EnclaveClock {
  nowMs(): number
  setOffset(offsetMs: number): void
  /** Sets how far the clock differs from the server's, in addition to the offset. */
  setSkew(skewMs: number): void
}

export function createEnclaveClock(initialOffsetMs: number): EnclaveClock {
  let offsetMs = initialOffsetMs
  let skewMs = 0
  return {
    nowMs: () => Date.now() + offsetMs + skewMs,
    setOffset: (next) => {
      offsetMs = next
    },
    setSkew: (next) => {
      skewMs = next
    },
  }
}
