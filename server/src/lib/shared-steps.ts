import { setTimeout as delay } from 'node:timers/promises'
import { readProcessMs } from './clock.ts'

/** The time between two steps, in milliseconds. */
export const STEP_MS = 200
/** A wait may be this much too long. Otherwise, a timer that fires a moment early would cost a whole step. */
const TOLERANCE_MS = 5

interface Step {
  readonly timer: NodeJS.Timeout
  readonly resumes: Set<() => void>
}

const steps = new Map<number, Step>()

/**
 * Waits for `waitMs`, or up to half of that time less, so that all waits of this process end in the same turns of the
 * event loop: every `STEP_MS`. Statements that are sent in the same turn share a write to the database's socket, and
 * the process and the database wake up once for all of them. Most of what an idle process costs are such wakeups. Ends
 * earlier if the signal is aborted. A time that is not a multiple of `STEP_MS` is not changed.
 */
export async function waitForStep(waitMs: number, signal: AbortSignal): Promise<void> {
  const nowMs = readProcessMs()
  const number = Math.floor((nowMs + waitMs + TOLERANCE_MS) / STEP_MS)
  const leftMs = number * STEP_MS - nowMs
  if (waitMs % STEP_MS !== 0 || leftMs < waitMs / 2) {
    await delay(waitMs, undefined, { signal }).catch(() => undefined)
    return
  }
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const step = steps.get(number) ?? startStep(number, leftMs)
    const end = (): void => {
      signal.removeEventListener('abort', end)
      step.resumes.delete(end)
      // Without this, a stopped service would keep its process alive until the step.
      if (step.resumes.size === 0) endStep(number, step)
      resolve()
    }
    signal.addEventListener('abort', end)
    step.resumes.add(end)
  })
}

function startStep(number: number, leftMs: number): Step {
  const resumes = new Set<() => void>()
  const timer = setTimeout(() => {
    for (const resume of resumes) resume()
  }, Math.ceil(leftMs))
  const step = { timer, resumes }
  steps.set(number, step)
  return step
}

function endStep(number: number, { timer }: Step): void {
  clearTimeout(timer)
  steps.delete(number)
}
