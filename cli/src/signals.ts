import { EXIT, type ExitCode } from './exit-codes.ts'

/** How long a command may take to end after a signal. */
const STOP_MS_MAX = 2_000
/** After this number of signals, the next one ends the program at once. */
const SIGNALS_MAX = 2

const unfinished = new Set<Promise<unknown>>()
const stopping = new AbortController()
let code: ExitCode = EXIT.interrupted

/** Aborts when the person presses Ctrl-C, or the system asks the program to end. */
export const stopSignal: AbortSignal = stopping.signal

/** The exit code of a program that a signal has stopped. */
export function stoppedCode(): ExitCode {
  return code
}

/**
 * Lets the work end even if a signal arrives meanwhile. The refresh of a token needs this: if its response were lost,
 * the session would be lost too.
 */
export function finishBeforeExit<Result>(work: Promise<Result>): Promise<Result> {
  const settled = work.catch(() => undefined)
  unfinished.add(settled)
  void settled.finally(() => unfinished.delete(settled))
  return work
}

/** Waits for work that must not be cut off. */
export async function finishWork(): Promise<void> {
  await Promise.all(unfinished)
}

/**
 * At the first signal, aborts `stopSignal`, which asks the command to stop. At the second one, or if the command does
 * not end soon, calls `end`, which only waits for work that must not be cut off. A third signal ends the program at
 * once.
 */
export function handleSignals(end: () => void): void {
  let count = 0
  const stop = (exitCode: ExitCode): void => {
    count += 1
    if (count > SIGNALS_MAX) process.exit(code)
    if (count > 1) return end()
    code = exitCode
    stopping.abort()
    setTimeout(end, STOP_MS_MAX).unref()
  }
  process.on('SIGINT', () => stop(EXIT.interrupted))
  process.on('SIGTERM', () => stop(EXIT.terminated))
  process.on('SIGHUP', () => stop(EXIT.terminated))
}

/** Waits until `stopSignal` aborts or the time is over. */
export async function pause(ms: number): Promise<void> {
  if (stopSignal.aborted) return
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      stopSignal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    stopSignal.addEventListener('abort', end, { once: true })
  })
}
