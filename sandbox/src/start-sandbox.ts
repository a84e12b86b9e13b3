import { addressesFrom } from './addresses.ts'
import type { Profile } from './enclave/pace.ts'
import { explainPort } from './processes/check-ports.ts'
import { logFile } from './processes/data-dir-layout.ts'
import { serverEnvironment, type Environment } from './processes/environments.ts'
import { Supervisor } from './processes/supervisor.ts'
import { endLeftovers, openProcessRecord } from './processes/process-record.ts'
import { Servers, type AddedServer } from './processes/servers.ts'
import { startFoundations } from './processes/start-foundations.ts'
import { removeFacts, writeFacts, type SandboxFacts } from './state/sandbox-facts.ts'
import { openState } from './state/sandbox-state.ts'
import { takeDataDir } from './state/take-data-dir.ts'

export interface SandboxOptions {
  /** The first of seven consecutive ports. */
  readonly port: number
  /** Absolute. Created if missing. */
  readonly dataDir: string
  readonly onProgress?: (line: string) => void
  /** Settings of the server that differ from the sandbox's defaults. */
  readonly serverEnv?: Environment
  /** Another address for the enclave, for a proxy. It is part of what the enclave's clients sign. */
  readonly enclaveUrl?: string
  /** Whether the enclave responds as slowly as the real provider. True by default. */
  readonly enclaveProfile?: Profile
  /** False for a sandbox that need not survive a crash of the machine; it starts faster. True by default. */
  readonly durable?: boolean
  /** Aborts the start. */
  readonly signal?: AbortSignal
}

export interface Sandbox {
  /** The contents of `sandbox.json`. */
  readonly facts: SandboxFacts
  /** Resolves, with a sentence, if a part exits on its own. That stops nothing else. */
  readonly died: Promise<string>
  serverPid(): number
  /** Ends the server with a signal, like a crash. */
  killServer(signal: NodeJS.Signals): Promise<void>
  /** Starts the server again after `killServer`. */
  startServer(): Promise<void>
  /** Starts a second server process on the same database. Port 0 picks any free one. */
  addServer(options: { port: number; env?: Environment }): Promise<AddedServer>
  /** Stops everything, in order. May be called twice. */
  stop(): Promise<void>
}

type Stops = (() => Promise<void>)[]

/**
 * Starts the whole service on this machine, and resolves when it is ready for use. `sandbox.json` is written last.
 *
 * @throws Error with one sentence if a port or the directory is in use, or a part does not start. Nothing is left
 * running then.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const lock = takeDataDir(options.dataDir)
  const stops: Stops = [async () => lock.release()]
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => (stopping ??= stopInOrder(stops))
  try {
    return { ...(await compose(options, stops)), stop }
  } catch (error) {
    await stop()
    throw explainPort(error, addressesFrom(options.port).ports)
  }
}

/** Everything that has been started is in `stops` from the first moment, latest first. */
async function compose(options: SandboxOptions, stops: Stops): Promise<Omit<Sandbox, 'stop'>> {
  const { dataDir, port, onProgress = () => undefined, serverEnv = {}, durable = true, signal } = options
  const { enclaveProfile = 'realistic' } = options
  const own = addressesFrom(port)
  const addresses = { ...own, enclaveUrl: options.enclaveUrl ?? own.enclaveUrl }
  const died = Promise.withResolvers<string>()
  const watched = untilEnd(died.promise, signal)

  removeFacts(dataDir)
  await endLeftovers(dataDir)
  const state = openState(dataDir)
  const fleet = new Supervisor({ state, record: openProcessRecord(dataDir), onExit: died.resolve })
  const foundations = startFoundations({
    dataDir,
    addresses,
    state,
    fleet,
    durable,
    enclaveProfile,
    onProgress,
    onExit: died.resolve,
  })
  stops.unshift(() => foundations.stop())
  const databaseUrl = await watched(foundations.databaseUrl)

  const env = (): Environment => serverEnvironment({ addresses, state: state.current, databaseUrl })
  const servers = new Servers({ fleet, logFile: logFile(dataDir, 'server'), env: () => ({ ...env(), ...serverEnv }) })
  stops.unshift(() => servers.stop())
  const serving = servers.start()
  // The control API runs on the server's code. It is loaded while the server loads the same code.
  const control = import('./control/open-control.ts')
  const [chains, { openControl }] = await watched(Promise.all([foundations.chains, control, serving]))
  onProgress(`server on ports ${addresses.ports.api} and ${addresses.ports.auth}`)

  const opening = openControl({
    env: env(),
    addresses,
    state,
    chains,
    fleet,
    logFile: logFile(dataDir, 'control'),
    onFactsChanged: (changed) => writeFacts(dataDir, changed),
  })
  // After the server, before everything that the server uses.
  stops.splice(1, 0, async () => (await opening.catch(() => null))?.close())
  const { facts } = await watched(opening)
  onProgress(`control API on port ${addresses.ports.control}`)
  writeFacts(dataDir, facts)
  stops.unshift(async () => removeFacts(dataDir))

  return {
    facts,
    died: died.promise,
    serverPid: () => servers.pid,
    killServer: (killSignal) => servers.kill(killSignal),
    startServer: () => servers.start(),
    addServer: (added) => servers.add(added),
  }
}

/** Waits for a step, unless a part exits or the start is aborted first. */
function untilEnd(died: Promise<string>, signal: AbortSignal | undefined): <T>(step: Promise<T>) => Promise<T> {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  ended.catch(() => undefined)
  void died.then((detail) => reject(new Error(detail)))
  const abort = (): void => reject(new Error('The start was stopped.'))
  if (signal?.aborted === true) abort()
  signal?.addEventListener('abort', abort, { once: true })
  return (step) => {
    step.catch(() => undefined)
    return Promise.race([ended, step])
  }
}

/** A part that does not stop properly must not keep the others running. The first error is thrown at the end. */
async function stopInOrder(stops: Stops): Promise<void> {
  const faults: unknown[] = []
  for (const stop of stops) {
    try {
      await stop()
    } catch (error) {
      faults.push(error)
    }
  }
  if (faults.length > 0) throw faults[0]
}
