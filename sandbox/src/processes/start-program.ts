import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fstatSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openLog, readLogTail } from '../lib/program-log.ts'
import { shareCompileCache } from './programs.ts'

/**
 * How long a server or an enclave may take until it reports that it is ready. Each loads in less than a second, but the
 * machine may be busy.
 */
const READY_MS_MAX = 120_000
/** How long a program may take to finish its work after it was asked to stop. Then it is killed. */
const STOP_MS_MAX = 10_000
/** The time limit of a message to another local process and its reply. On a busy machine, it has taken more than 5 s. */
export const CLOCK_ACK_MS_MAX = 15_000

export type Memory = keyof typeof SEMI_SPACE_MIB

export interface ProgramOptions {
  /** The program's name in messages. */
  readonly name: string
  readonly file: URL
  /** The program's whole environment. */
  readonly env: Readonly<Record<string, string>>
  readonly logFile: string
  /** Whether the program uses little memory, or more memory to collect garbage less often. */
  readonly memory: Memory
  /** Called once, with a sentence, if the program exits without being stopped after it was ready. */
  readonly onExit: (detail: string) => void
}

export interface Program {
  readonly pid: number
  /** The message that the program sent when it was ready. */
  readonly ready: Readonly<Record<string, unknown>>
  /** Moves the program's clock. Resolves once the program has confirmed that, or has exited. */
  setClockOffset(offsetMs: number): Promise<void>
  /**
   * Asks the program to stop (SIGTERM). Kills it if it is still running after `STOP_MS_MAX`. Further calls have no
   * effect.
   */
  stop(): Promise<void>
  /** Ends the program with a signal, without calling `onExit`. Resolves when it has exited. */
  kill(signal: NodeJS.Signals): Promise<void>
}

/** Hides a warning that some versions print for node:sqlite. */
const QUIET_FLAG = '--disable-warning=ExperimentalWarning'
/**
 * The size of the young generation in MiB. The small size saves 25 MiB in an idle process, and is enough for the
 * requests of one machine. The large size is for tests, which use the processor fully: with it, processes collect
 * garbage less often.
 */
const SEMI_SPACE_MIB = { small: 2, large: 16 } as const

/**
 * Starts one of our own programs and resolves when it is ready. A pipe to the program stays open: through it, we move
 * the program's clock. If we die, the pipe closes and the program exits.
 *
 * @throws Error with one sentence and the last lines of the program's log, if it does not become ready.
 */
export async function startProgram({ name, file, env, logFile, memory, onExit }: ProgramOptions): Promise<Program> {
  mkdirSync(dirname(logFile), { recursive: true })
  const log = openLog(logFile)
  const logStart = fstatSync(log).size
  // The program runs in its own session. So Ctrl-C in the terminal reaches only the sandbox, which stops its children
  // in order.
  const child = fork(fileURLToPath(file), {
    execArgv: [QUIET_FLAG, `--max-semi-space-size=${SEMI_SPACE_MIB[memory]}`],
    env: { ...env, ...shareCompileCache() },
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

/** Waits for the program's message that it is ready. Returns null if the program exited or took too long. */
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
      // If the pipe is broken, the process is exiting, and its exit event reports that.
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
