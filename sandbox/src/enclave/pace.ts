import { randomInt } from 'node:crypto'

/** How long things take: as with the real provider, or hardly any time, for tests that need speed. */
export const PROFILES = ['realistic', 'fast'] as const
export type Profile = (typeof PROFILES)[number]

interface Durations {
  /** How long a sponsored send is `pending`, without a hash. */
  readonly pendingMsMin: number
  readonly pendingMsMax: number
  /** How long after that a send lands that a fault delays. */
  readonly laterMs: number
}

const PACES: Readonly<Record<Profile, Durations>> = {
  realistic: { pendingMsMin: 400, pendingMsMax: 900, laterMs: 3_000 },
  fast: { pendingMsMin: 0, pendingMsMax: 1, laterMs: 1_000 },
}

export type Pace = ReturnType<typeof createPace>

/** The profile in force; the sandbox may choose another one while the enclave runs. */
export function createPace(initial: Profile) {
  let profile = initial
  return {
    choose: (next: Profile): void => {
      profile = next
    },
    drawPendingMs: (): number => randomInt(PACES[profile].pendingMsMin, PACES[profile].pendingMsMax + 1),
    laterMs: (): number => PACES[profile].laterMs,
  }
}
