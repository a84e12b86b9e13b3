import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, fstatSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findBinaries, type PostgresBinaries } from './find-binaries.ts'
import { initCluster, SUPERUSER } from './init-cluster.ts'
import { LOCK_RETRIES_MAX, LOCK_RETRY_DELAY_MS, START_TIMEOUT_MS } from './limit.ts'
import { pollUntil } from '../lib/process-poll.ts'
import { chooseRunAs, invocation, type RunAs } from './run-as.ts'
import { openLog, readLogTail } from '../lib/program-log.ts'
import { formatSettings } from './server-settings.ts'
import { stopLeftover, stopProcess } from './stop-leftover.ts'

export type StartPostgresOptions = {
  /** The cluster's folder. Its password, log and library links are next to it, as `<dataDir>.password` and so on. */
  readonly dataDir: string
  readonly port: number
  /** The address to listen on; 127.0.0.1 by default. */
  readonly host?: string
  /** False if the cluster is temporary and need not survive a crash of the machine. True by default. */
  readonly durable?: boolean
  /** How many connections the server accepts at most; 100 by default. */
  readonly maxConnections?: number
  /** Settings of PostgreSQL that replace those of the sandbox. */
  readonly settings?: Readonly<Record<string, string>>
  /** Called once, with a sentence, if the server exits without being stopped. */
  readonly onExit?: (detail: string) => void
}

export type Postgres = {
  /** The address for a superuser: `postgres://bursar:<password>@<host>:<port>/postgres`. */
  readonly url: string
  readonly pid: number
  /** Ends all sessions, writes a checkpoint, and resolves when the server has stopped. A second call has no effect. */
  stop(): Promise<void>
  /** Ends the server immediately, like a crash, but without calling `onExit`. */
  kill(): void
}

/**
 * Starts the embedded PostgreSQL on a data directory. Creates the cluster at the first start. Resolves once PostgreSQL
 * accepts connections. If a killed sandbox left a server running on this directory, stops that server first.
 *
 * @throws Error with one sentence if the platform has no binaries, the port or the directory is in use, or the server
 * does not start.
 */
export const startPostgres = async (options: StartPostgresOptions): Promise<Postgres> => {
  const { port, host = '127.0.0.1', durable = true, maxConnections = 100, settings = {} } = options
  const dataDir = resolve(options.dataDir)
  mkdirSync(dirname(dataDir), { recursive: true, mode: 0o755 })
  const binaries = findBinaries(`${dataDir}.lib`)
  const runAs = chooseRunAs([binaries.folder, binaries.postgres, dirname(dataDir)])
  await stopLeftover(dataDir)
  const password = await initCluster({ dataDir, binaries, runAs, durable })
  const args = ['-D', dataDir, ...formatSettings({ host, port, maxConnections, durable }, settings)]
  const server = await launchUntilReady({ dataDir, binaries, runAs, args, port })
  const watch = watchExit(server, options.onExit)
  return {
    url: `postgres://${SUPERUSER}:${password}@${host}:${port}/postgres`,
    pid: server.pid,
    stop: async () => {
      watch.expect()
      await stopProcess(server.pid, () => isRunning(server.child))
    },
    kill: () => {
      watch.expect()
      server.child.kill('SIGKILL')
    },
  }
}

type Launch = {
  readonly dataDir: string
  readonly binaries: PostgresBinaries
  readonly runAs: RunAs
  readonly args: readonly string[]
  readonly port: number
}

type Server = {
  readonly child: ChildProcess
  readonly pid: number
  readonly logFile: string
  readonly logStart: number
}

// Retries the start while the directory's lock is taken: the backend processes of a killed server keep the lock until
// they notice that the server is gone.
const launchUntilReady = async (launch: Launch): Promise<Server> => {
  for (let attempt = 1; ; attempt += 1) {
    const server = spawnServer(launch)
    const settled = (): boolean => !isRunning(server.child) || isReady(launch.dataDir, server.pid)
    const inTime = await pollUntil(settled, START_TIMEOUT_MS)
    if (inTime && isRunning(server.child)) return server
    if (!inTime) await stopProcess(server.pid, () => isRunning(server.child))
    const tail = readLogTail(server.logFile, server.logStart)
    if (attempt > LOCK_RETRIES_MAX || !LOCK_HELD.test(tail)) throw explain(tail, launch)
    await delay(LOCK_RETRY_DELAY_MS)
  }
}

const LOCK_HELD = /lock file "postmaster\.pid" already exists|pre-existing shared memory block/

const spawnServer = (launch: Launch): Server => {
  const { file, args, ...identity } = invocation(launch.runAs, launch.binaries.postgres, launch.args)
  const logFile = `${launch.dataDir}.log`
  const log = openLog(logFile)
  const logStart = fstatSync(log).size
  // The server runs in its own session. So Ctrl-C in the terminal reaches only the sandbox, which stops its children in
  // order.
  const child = spawn(file, args, {
    ...identity,
    cwd: '/',
    detached: true,
    env: { ...process.env, LC_ALL: 'C', ...launch.binaries.env },
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  // If a program cannot be run, Node reports that in two ways: the process has no id, and it emits an error event.
  // Without a handler, the event would crash us.
  child.once('error', () => undefined)
  if (child.pid === undefined) throw new Error(`PostgreSQL cannot be run: ${file}`)
  return { child, pid: child.pid, logFile, logStart }
}

// The eighth line of the lock file is the server's status. `pg_ctl` checks the same line. `standby` means that the server
// recovers and accepts no connections. That is enough for a standby. Any other server is ready only after its recovery.
const isReady = (dataDir: string, pid: number): boolean => {
  const lockFile = join(dataDir, 'postmaster.pid')
  if (!existsSync(lockFile)) return false
  const lines = readFileSync(lockFile, 'utf8').split('\n')
  const status = lines[7]?.trim()
  const isStandby = status === 'standby' && existsSync(join(dataDir, 'standby.signal'))
  return lines[0] === String(pid) && (status === 'ready' || isStandby)
}

const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null

const explain = (tail: string, { port, dataDir }: Launch): Error =>
  /Address already in use/.test(tail)
    ? new Error(`port ${port} is in use: PostgreSQL cannot listen on it`)
    : new Error(`PostgreSQL did not start (its log is ${dataDir}.log): ${tail}`)

const watchExit = (server: Server, onExit: StartPostgresOptions['onExit']): { expect(): void } => {
  let expected = false
  server.child.once('exit', (code, signal) => {
    if (!expected) onExit?.(`PostgreSQL ended (${signal ?? `exit code ${String(code)}`}), see ${server.logFile}`)
  })
  return { expect: () => (expected = true) }
}
