/** The enclave's clock: the machine's, moved by an offset, so that the sandbox can move it along with the server's (D49). */
export interface EnclaveClock {
  nowMs(): number
  setOffset(offsetMs: number): void
}

export function createEnclaveClock(initialOffsetMs: number): EnclaveClock {
  let offsetMs = initialOffsetMs
  return {
    nowMs: () => Date.now() + offsetMs,
    setOffset: (next) => {
      offsetMs = next
    },
  }
}
