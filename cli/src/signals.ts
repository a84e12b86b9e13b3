import { EXIT, type ExitCode } from './exit-codes.ts'

/** How long a command may take to end after a signal. */
const STOP_MS_MAX = 2_000

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
 * Lets the work end even if a signal arrives meanwhile. For the refresh of a token: if its answer were lost, the session
 * would be lost too.
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
 * Asks the command to stop at the first signal, by `stopSignal`. If it does not end soon, `onLate` is called, which ends
 * the program. A second signal ends the program at once.
 */
export function handleSignals(onLate: () => void): void {
  const stop = (exitCode: ExitCode): void => {
    if (stopping.signal.aborted) process.exit(exitCode)
    code = exitCode
    stopping.abort()
    setTimeout(onLate, STOP_MS_MAX).unref()
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
