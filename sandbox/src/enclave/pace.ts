import { randomInt } from 'node:crypto'

/** How long operations take: `realistic` takes as long as the provider, `fast` takes almost no time. */
export const PROFILES = ['realistic', 'fast'] as const
export type Profile = (typeof PROFILES)[number]

interface Durations {
  /** For how long a sponsored send stays `pending` without a hash. */
  readonly pendingMsMin: number
  readonly pendingMsMax: number
  /** How much later than usual a send lands, if a fault delays it. */
  readonly laterMs: number
}

const PACES: Readonly<Record<Profile, Durations>> = {
  realistic: { pendingMsMin: 400, pendingMsMax: 900, laterMs: 3_000 },
  fast: { pendingMsMin: 0, pendingMsMax: 1, laterMs: 1_000 },
}

export type Pace = ReturnType<typeof createPace>

/** Keeps the current profile. The sandbox can choose another profile while the enclave runs. */
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
