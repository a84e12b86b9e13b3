import { eventLoopUtilization, type EventLoopUtilization } from 'node:perf_hooks'
import type { Logger } from './logger.ts'

/** How often the process's utilization is read, in milliseconds. */
const SAMPLE_MS = 1_000
/** A process is quiet if its event loop has worked for at most this share of a sample. */
const QUIET_SHARE_MAX = 0.2
/** After an overload, the process must be quiet for this many samples, so that it does not pause between two waves. */
const QUIET_SAMPLES_MIN = 2
/** At most one release in this many samples, because a release stops the process for about a tenth of a second. */
const SAMPLES_BETWEEN_MIN = 10

/** Decides when a process gives memory back: once after each overload, as soon as the process is quiet. */
export class QuietAfterOverload {
  #wasOverloaded = false
  #quietSamples = 0
  #samplesSince = SAMPLES_BETWEEN_MIN

  /**
   * Takes a sample: the share of its time, between 0 and 1, in which the event loop worked, and whether the process had
   * too much work. Returns whether memory should be given back now.
   */
  add({ share, isOverloaded }: { share: number; isOverloaded: boolean }): boolean {
    this.#samplesSince += 1
    this.#wasOverloaded ||= isOverloaded
    this.#quietSamples = share <= QUIET_SHARE_MAX ? this.#quietSamples + 1 : 0
    const isQuiet = this.#quietSamples >= QUIET_SAMPLES_MIN
    if (!this.#wasOverloaded || !isQuiet || this.#samplesSince < SAMPLES_BETWEEN_MIN) return false
    this.#wasOverloaded = false
    this.#samplesSince = 0
    return true
  }
}

/**
 * Gives memory back to the operating system after an overload. In Node.js, V8 keeps the pages that it needed at the
 * busiest moment, even if the process is then quiet for a long time. After other busy times the pages are kept, because
 * the next requests are then served with less processor time. Needs the flag `--expose-gc`; without it, nothing is
 * given back. Returns a function that ends this.
 *
 * @param countTurnedAway how many requests were turned away since the process started
 */
export function startMemoryRelease(countTurnedAway: () => number, { logger }: { logger: Logger }): () => void {
  const { gc } = globalThis
  if (gc === undefined) return () => undefined
  const quiet = new QuietAfterOverload()
  let last: EventLoopUtilization = eventLoopUtilization()
  let lastCount = countTurnedAway()
  const sample = (): void => {
    const current = eventLoopUtilization()
    const { utilization } = eventLoopUtilization(current, last)
    last = current
    const count = countTurnedAway()
    const isOverloaded = count > lastCount
    lastCount = count
    if (!quiet.add({ share: utilization, isOverloaded })) return
    const beforeMiB = residentMiB()
    // Only this kind of collection gives free pages back.
    gc({ type: 'major', flavor: 'last-resort', execution: 'sync' })
    logger.debug({ beforeMiB, afterMiB: residentMiB() }, 'memory was given back after an overload')
  }
  const timer = setInterval(sample, SAMPLE_MS).unref()
  return () => clearInterval(timer)
}

function residentMiB(): number {
  return Math.round(process.memoryUsage.rss() / 1_048_576)
}
