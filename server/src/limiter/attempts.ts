import type { SlidingWindow } from './bucket.ts'

/**
 * The rate limits of requests outside `/v1`, which we call attempts (D33). `token` and `revoke` are counted per client
 * and IP address. `dashboard` is counted per session, or per IP address if nobody is signed in. `faucet` and
 * `wallet_creation` are counted per workspace, and all others per IP address.
 */
export const ATTEMPT_LIMITS = {
  token: { limit: 60, windowMs: 60_000 },
  revoke: { limit: 60, windowMs: 60_000 },
  register: { limit: 20, windowMs: 3_600_000 },
  /** Limited because each valid request adds a row. */
  authorize: { limit: 100, windowMs: 60_000 },
  /** Limited because each fetch of a client's metadata document is a request to a server that a stranger has chosen. */
  client_document: { limit: 20, windowMs: 3_600_000 },
  /** Limited because each sign-up adds a user. */
  sign_up: { limit: 10, windowMs: 3_600_000 },
  sign_in: { limit: 20, windowMs: 60_000 },
  dashboard: { limit: 300, windowMs: 60_000 },
  /** Limited because, outside the sandbox, the test USDC comes from a public faucet, which has its own limits. */
  faucet: { limit: 10, windowMs: 3_600_000 },
  /** Limited because each wallet takes a hundred requests to the enclave, whose rate limit also applies to payments. */
  wallet_creation: { limit: 10, windowMs: 3_600_000 },
  /** The tiles that prove one leaf of a large log are fewer than ten. A monitor reads one for each 256 leaves. */
  log: { limit: 600, windowMs: 60_000 },
} as const satisfies Record<string, SlidingWindow>

export type AttemptBucket = keyof typeof ATTEMPT_LIMITS

/**
 * Rows expire at full hours. So counting an attempt rarely changes the row's expiry, and PostgreSQL rarely has to
 * update the index by expiry.
 */
const ROW_END_STEP_MS = 3_600_000

/** Returns when an attempt's row expires. By then, every attempt that was counted up to `now` has left the window. */
export function attemptRowEnd(bucket: AttemptBucket, now: Date): Date {
  const windowEnd = now.getTime() + ATTEMPT_LIMITS[bucket].windowMs
  return new Date(Math.ceil(windowEnd / ROW_END_STEP_MS) * ROW_END_STEP_MS)
}
