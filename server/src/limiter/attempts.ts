import type { SlidingWindow } from './bucket.ts'

/**
 * The limits outside `/v1` (D33). `token` and `revoke` are counted per client and address, `dashboard` per session (or per
 * address without one), `faucet` per workspace, and the others per address.
 */
export const ATTEMPT_LIMITS = {
  token: { limit: 60, windowMs: 60_000 },
  revoke: { limit: 60, windowMs: 60_000 },
  register: { limit: 20, windowMs: 3_600_000 },
  /** Each valid request adds a row. */
  authorize: { limit: 100, windowMs: 60_000 },
  /** Each sign-up adds a user. */
  sign_up: { limit: 10, windowMs: 3_600_000 },
  sign_in: { limit: 20, windowMs: 60_000 },
  dashboard: { limit: 300, windowMs: 60_000 },
  /** Outside the sandbox, test USDC comes from a public faucet with limits of its own. */
  faucet: { limit: 10, windowMs: 3_600_000 },
} as const satisfies Record<string, SlidingWindow>

export type AttemptBucket = keyof typeof ATTEMPT_LIMITS

/** Rows expire on whole hours, so counting an attempt rarely moves its row in the index by expiry. */
const ROW_END_STEP_MS = 3_600_000

/** Returns the time from which nothing counted up to `now` is in its window any more. */
export function attemptRowEnd(bucket: AttemptBucket, now: Date): Date {
  const windowEnd = now.getTime() + ATTEMPT_LIMITS[bucket].windowMs
  return new Date(Math.ceil(windowEnd / ROW_END_STEP_MS) * ROW_END_STEP_MS)
}
