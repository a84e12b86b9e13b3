import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fstatSync, mkdirSync } from 'node:fs'
import { flushCompileCache, getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openLog, readLogTail } from '../postgres/server-log.ts'
import { CLOCK_ACK_MS_MAX, READY_MS_MAX, STOP_MS_MAX } from './limits.ts'

export interface ProgramOptions {
  /** What messages call it. */
  readonly name: string
  readonly file: URL
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>
  readonly logFile: string
  /** Called once, with a sentence, when it ends unasked after it was ready. */
  readonly onExit: (detail: string) => void
}

export interface Program {
  readonly pid: number
  /** What it said when it was ready. */
  readonly ready: Readonly<Record<string, unknown>>
  /** Moves its clock, and resolves when it says that it did, or is gone. */
  setClockOffset(offsetMs: number): Promise<void>
  /** Lets it finish, in bounded time. May be called twice, and after its end. */
  stop(): Promise<void>
  /** Ends it with a signal, without that counting as its death; resolves when it is gone. */
  kill(signal: NodeJS.Signals): Promise<void>
}

/**
 * node:sqlite announces itself as experimental on some versions. A small young generation keeps an
 * idle process 25 MiB smaller, and is enough for the requests of one machine.
 */
const NODE_FLAGS = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=2']

/** What we have compiled, and they use too, they need not compile again: they start faster, and without the type stripper. */
function compileCache(): Record<string, string> {
  const folder = getCompileCacheDir()
  if (folder === undefined) return {}
  flushCompileCache()
  // Node keeps each version's files in a folder of its own below the one that it is told.
  return { NODE_COMPILE_CACHE: dirname(folder) }
}

/**
 * Starts one of our own programs and resolves when it is ready. A pipe stays open between it and us: over it its clock is
 * moved, and when we die, it ends.
 *
 * @throws Error with one sentence, and the end of its log, when it does not become ready.
 */
export async function startProgram({ name, file, env, logFile, onExit }: ProgramOptions): Promise<Program> {
  mkdirSync(dirname(logFile), { recursive: true })
  const log = openLog(logFile)
  const logStart = fstatSync(log).size
  // Its own session: a Ctrl-C in the terminal is for the sandbox, which stops its children in order.
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
    throw new Error(`The ${name} does not start (its log is ${logFile}): ${readLogTail(logFile, logStart)}`)
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

/** Null when it ended, or took too long. */
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
      // A pipe that breaks here is a process that ends: its exit is told in its own way.
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
