/**
 * The enclave's clock: the machine's clock plus an offset. With the offset, the sandbox moves this clock together with
 * the server's (D49).
 */
export interface EnclaveClock {
  nowMs(): number
  setOffset(offsetMs: number): void
  /** Sets by how much this clock deliberately differs from the server's. This is added to the offset. */
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
