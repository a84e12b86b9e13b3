import type { SlidingWindow } from './bucket.ts'

/** The limits outside `/v1` (D33): `token` and `revoke` per client and address, `dashboard` per session, else per address. */
export const ATTEMPT_LIMITS = {
  token: { limit: 60, windowMs: 60_000 },
  revoke: { limit: 60, windowMs: 60_000 },
  register: { limit: 20, windowMs: 3_600_000 },
  /** Each request that is opened leaves a row. */
  authorize: { limit: 100, windowMs: 60_000 },
  /** Each leaves a user behind. */
  sign_up: { limit: 10, windowMs: 3_600_000 },
  sign_in: { limit: 20, windowMs: 60_000 },
  dashboard: { limit: 300, windowMs: 60_000 },
  /** Per workspace: test USDC is a public good where it is not of our own making. */
  faucet: { limit: 10, windowMs: 3_600_000 },
} as const satisfies Record<string, SlidingWindow>

export type AttemptBucket = keyof typeof ATTEMPT_LIMITS

/** The ends of rows lie on whole hours, so that counting an attempt rarely moves its row in the index by end. */
const ROW_END_STEP_MS = 3_600_000

/** From when on nothing that was counted by `now` is in its window any more. */
export function attemptRowEnd(bucket: AttemptBucket, now: Date): Date {
  const windowEnd = now.getTime() + ATTEMPT_LIMITS[bucket].windowMs
  return new Date(Math.ceil(windowEnd / ROW_END_STEP_MS) * ROW_END_STEP_MS)
}
