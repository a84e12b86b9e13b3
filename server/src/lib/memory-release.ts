import { eventLoopUtilization, type EventLoopUtilization } from 'node:perf_hooks'
import type { Logger } from './logger.ts'

/** How often the process's utilization is read, in milliseconds. */
const SAMPLE_MS = 1_000
/** A process is busy if its event loop has worked for this share of a sample. */
const BUSY_SHARE_MIN = 0.5
/** A process is quiet if its event loop has worked for at most this share of a sample. */
const QUIET_SHARE_MAX = 0.2
/** After a busy time, the process must be quiet for this many samples, so that it does not pause between two waves. */
const QUIET_SAMPLES_MIN = 2
/** At most one release in this many samples, because a release stops the process for about a tenth of a second. */
const SAMPLES_BETWEEN_MIN = 10

/** Decides when a process gives memory back: once after each busy time, as soon as the process is quiet. */
export class QuietAfterWork {
  #wasBusy = false
  #quietSamples = 0
  #samplesSince = SAMPLES_BETWEEN_MIN

  /** Takes the share of the last sample, between 0 and 1, and returns whether memory should be given back now. */
  add(share: number): boolean {
    this.#samplesSince += 1
    this.#wasBusy ||= share >= BUSY_SHARE_MIN
    this.#quietSamples = share <= QUIET_SHARE_MAX ? this.#quietSamples + 1 : 0
    const isDue = this.#wasBusy && this.#quietSamples >= QUIET_SAMPLES_MIN && this.#samplesSince >= SAMPLES_BETWEEN_MIN
    if (!isDue) return false
    this.#wasBusy = false
    this.#samplesSince = 0
    return true
  }
}

/**
 * Gives memory back to the operating system after a busy time. V8 keeps the pages that it needed at the busiest moment,
 * and does not give them back by itself in a Node.js process, however long it is quiet. Needs the flag `--expose-gc`;
 * without it, nothing is given back. Returns a function that ends this.
 */
export function startMemoryRelease({ logger }: { logger: Logger }): () => void {
  const { gc } = globalThis
  if (gc === undefined) return () => undefined
  const quiet = new QuietAfterWork()
  let last: EventLoopUtilization = eventLoopUtilization()
  const sample = (): void => {
    const current = eventLoopUtilization()
    const { utilization } = eventLoopUtilization(current, last)
    last = current
    if (!quiet.add(utilization)) return
    const beforeMiB = residentMiB()
    // Only this kind of collection gives free pages back.
    gc({ type: 'major', flavor: 'last-resort', execution: 'sync' })
    logger.debug({ beforeMiB, afterMiB: residentMiB() }, 'memory was given back after a busy time')
  }
  const timer = setInterval(sample, SAMPLE_MS).unref()
  return () => clearInterval(timer)
}

function residentMiB(): number {
  return Math.round(process.memoryUsage.rss() / 1_048_576)
}
