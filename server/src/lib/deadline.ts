import { readProcessMs } from './clock.ts'

/** A time limit that several steps share. Moving a clock does not change it. */
export interface Deadline {
  /** The time limit of all steps together. */
  readonly limitMs: number
  /** Returns how much time is left, at least 0. */
  leftMs(): number
}

/** Starts a time limit. */
export function openDeadline(limitMs: number): Deadline {
  const end = readProcessMs() + limitMs
  return { limitMs, leftMs: () => Math.max(0, end - readProcessMs()) }
}
