import { setTimeout as delay } from 'node:timers/promises'
import { problem } from '../../values/problem.ts'
import type { Context } from '../context.ts'

/** For a moment after a change, the enclave may return an older record, so it is read at most this many times. */
const READS_MAX = 5
/** The pause before the second read; each later pause is `PAUSE_GROWTH` times as long. Together they take 3 seconds. */
const FIRST_PAUSE_MS = 200
const PAUSE_GROWTH = 2

/** Waits between two reads of the enclave's record. Only tests pass their own. */
export type Pause = (milliseconds: number) => Promise<unknown>

/**
 * Reads the enclave's record until it is as the owner signed it. `compare` reads it once, and returns null if it is so,
 * otherwise what the log says about the difference.
 *
 * Errors: 500 `enclave_record_differs` if the record still differs after `READS_MAX` reads.
 */
export async function readBack(
  ctx: Pick<Context, 'logger'>,
  compare: () => Promise<object | null>,
  pause: Pause = delay,
): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS
  for (let reads = 1; ; reads += 1) {
    const difference = await compare()
    if (difference === null) return
    if (reads === READS_MAX) {
      ctx.logger.error(difference, "the enclave's record does not match what was signed")
      throw problem('enclave_record_differs')
    }
    await pause(pauseMs)
    pauseMs *= PAUSE_GROWTH
  }
}
