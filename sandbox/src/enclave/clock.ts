/** The enclave's clock: the machine's, moved by an offset, so that the sandbox can move it along with the server's (D49). */
export interface EnclaveClock {
  nowMs(): number
  setOffset(offsetMs: number): void
  /** Sets the clock apart from the server's, on top of the offset. */
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
