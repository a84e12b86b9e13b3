/**
 * The rate limits of `/v1`, called buckets (specification, part 8). Each API key or connection has one sliding window
 * per bucket.
 */
export const BUCKETS = {
  default: { limit: 60, windowMs: 60_000 },
  payments: { limit: 30, windowMs: 60_000 },
} as const

export type Bucket = keyof typeof BUCKETS

/** At most `limit` requests within `windowMs`. */
export interface SlidingWindow {
  readonly limit: number
  readonly windowMs: number
}

/**
 * A subject's sliding window after a request was counted or rejected. The subject is the caller that the limit counts.
 */
export interface RateState {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** The time at which the oldest counted request leaves the window. */
  readonly resetAt: Date
}

/**
 * Computes a `RateState` from the times of the last counted requests. `allowed` is true if the current request is one
 * of them.
 */
export function rateState(window: SlidingWindow, counted: readonly number[], allowed: boolean, now: Date): RateState {
  const { limit, windowMs } = window
  const time = now.getTime()
  let used = 0
  let oldest = Number.POSITIVE_INFINITY
  for (const hit of counted) {
    if (hit <= time - windowMs || hit >= time + windowMs) continue
    used += 1
    if (hit < oldest) oldest = hit
  }
  return {
    allowed,
    limit,
    remaining: allowed ? Math.max(0, limit - used) : 0,
    resetAt: new Date((used === 0 ? time : oldest) + windowMs),
  }
}

/** Returns how many whole seconds the caller must wait, at least 1. */
export function retryAfterSeconds(state: RateState, now: Date): number {
  return Math.max(1, Math.ceil((state.resetAt.getTime() - now.getTime()) / 1_000))
}
