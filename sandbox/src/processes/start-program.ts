import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fstatSync, mkdirSync } from 'node:fs'
import { flushCompileCache, getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openLog, readLogTail } from '../postgres/server-log.ts'
import { CLOCK_ACK_MS_MAX, READY_MS_MAX, STOP_MS_MAX } from './limits.ts'

export interface ProgramOptions {
  /** Its name in messages. */
  readonly name: string
  readonly file: URL
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>
  readonly logFile: string
  /** Called once, with a sentence, if it exits on its own after it was ready. */
  readonly onExit: (detail: string) => void
}

export interface Program {
  readonly pid: number
  /** What it reported when it was ready. */
  readonly ready: Readonly<Record<string, unknown>>
  /** Moves its clock. Resolves once it confirms, or has exited. */
  setClockOffset(offsetMs: number): Promise<void>
  /**
   * Asks the program to stop (SIGTERM), and kills it if it is still running after `STOP_MS_MAX`. Further calls have no
   * effect.
   */
  stop(): Promise<void>
  /** Ends it with a signal, which does not count as an exit on its own. Resolves when it has exited. */
  kill(signal: NodeJS.Signals): Promise<void>
}

/**
 * node:sqlite prints a warning on some versions. A small young generation saves an idle process 25 MiB, and is enough
 * for the requests of one machine.
 */
const NODE_FLAGS = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=2']

/** The programs reuse the code that we have already compiled, so they start faster and without the type stripper. */
function compileCache(): Record<string, string> {
  const folder = getCompileCacheDir()
  if (folder === undefined) return {}
  flushCompileCache()
  // Node stores each version's files in a subfolder of the given one.
  return { NODE_COMPILE_CACHE: dirname(folder) }
}

/**
 * Starts one of our own programs and resolves when it is ready. A pipe between us stays open: it moves the program's
 * clock, and when we die, the program ends.
 *
 * @throws Error with one sentence and the end of its log, if it does not become ready.
 */
export async function startProgram({ name, file, env, logFile, onExit }: ProgramOptions): Promise<Program> {
  mkdirSync(dirname(logFile), { recursive: true })
  const log = openLog(logFile)
  const logStart = fstatSync(log).size
  // In its own session, so that Ctrl-C in the terminal reaches only the sandbox, which stops its children in order.
  const child = fork(fileURLToPath(file), {
    execArgv: NODE_FLAGS,
    env: { ...env, ...compileCache() },
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  child.once('error', () => undefined)
  const ready = await awaitReady(child)
  if (ready === null || child.pid === undefined) {
    await end(child, 'SIGKILL')
    throw new Error(`The ${name} did not start (its log is ${logFile}): ${readLogTail(logFile, logStart)}`)
  }
  let expected = false
  child.once('exit', (code, signal) => {
    if (!expected) onExit(`The ${name} ended (${signal ?? `exit code ${String(code)}`}), see ${logFile}.`)
  })
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    expected = true
    await end(child, signal)
  }
  return {
    pid: child.pid,
    ready,
    setClockOffset: (offsetMs) => moveClock(child, offsetMs, name),
    stop: () => kill('SIGTERM'),
    kill,
  }
}

/** Null if it exited or took too long. */
async function awaitReady(child: ChildProcess): Promise<Record<string, unknown> | null> {
  const timeout = AbortSignal.timeout(READY_MS_MAX)
  const settled = new AbortController()
  const signal = AbortSignal.any([timeout, settled.signal])
  const message = once(child, 'message', { signal }).then(([said]) => said as Record<string, unknown>)
  const exit = once(child, 'exit', { signal }).then(() => null)
  try {
    return await Promise.race([message, exit])
  } catch {
    return null
  } finally {
    settled.abort()
    await Promise.allSettled([message, exit])
  }
}

async function moveClock(child: ChildProcess, clockOffsetMs: number, name: string): Promise<void> {
  if (!child.connected) return
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const onMessage = (message: unknown): void => {
    if (isAck(message, clockOffsetMs)) resolve()
  }
  const onExit = (): void => resolve()
  const timer = setTimeout(
    () => reject(new Error(`The ${name} did not confirm its new clock in time.`)),
    CLOCK_ACK_MS_MAX,
  )
  child.on('message', onMessage).once('exit', onExit)
  try {
    child.send({ clockOffsetMs }, (error) => {
      // A broken pipe means that the process is exiting, which its exit event reports.
      if (error !== null) resolve()
    })
    await promise
  } finally {
    clearTimeout(timer)
    child.off('message', onMessage).off('exit', onExit)
  }
}

function isAck(message: unknown, clockOffsetMs: number): boolean {
  return (
    typeof message === 'object' &&
    message !== null &&
    'clockOffsetMs' in message &&
    message.clockOffsetMs === clockOffsetMs
  )
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
  await exited
  clearTimeout(force)
}
