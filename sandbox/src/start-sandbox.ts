import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { addressesFrom } from './addresses.ts'
import type { Profile } from './enclave/pace.ts'
import { explainPort } from './processes/check-ports.ts'
import { checkpointFile, logFile } from './state/data-dir-layout.ts'
import { sellerEnvironment, serverEnvironment, type Environment } from './processes/environments.ts'
import { Supervisor } from './processes/supervisor.ts'
import { findProgram } from './processes/programs.ts'
import { endLeftovers, openProcessRecord } from './state/process-record.ts'
import { Seller } from './processes/seller.ts'
import { Servers, type AddedServer } from './processes/servers.ts'
import type { Memory } from './processes/start-program.ts'
import { startFoundations } from './processes/start-foundations.ts'
import { removeFacts, writeFacts, type SandboxFacts } from './state/sandbox-facts.ts'
import { openState } from './state/sandbox-state.ts'
import { takeDataDir } from './state/take-data-dir.ts'

export interface SandboxOptions {
  /** The first of the sandbox's eight consecutive ports. */
  readonly port: number
  /** The data directory as an absolute path. It is created if it does not exist. */
  readonly dataDir: string
  readonly onProgress?: (line: string) => void
  /** Settings of the server that differ from the sandbox's defaults. */
  readonly serverEnv?: Environment
  /** How many slots the server and the control API give to a new wallet, if not as many as by default. */
  readonly walletSlots?: number
  /**
   * The address of the enclave for its clients, if a proxy is in front of it. Clients sign this address as part of
   * their requests.
   */
  readonly enclaveUrl?: string
  /** Whether the enclave's operations take as long as the real provider's (the default), or almost no time. */
  readonly enclaveProfile?: Profile
  /** False if the data need not survive a crash of the machine; the sandbox then starts faster. True by default. */
  readonly durable?: boolean
  /**
   * When the seller starts: together with the other programs, or when the control API first needs it (the default).
   */
  readonly sellerStarts?: 'with_sandbox' | 'when_needed'
  /** Whether the server and the enclave save memory (the default), or use more of it to collect garbage less often. */
  readonly memory?: Memory
  /** A signal that aborts the start. */
  readonly signal?: AbortSignal
}

export interface Sandbox {
  /** The contents of `sandbox.json`. */
  readonly facts: SandboxFacts
  /** Resolves, with a sentence, if a part exits without being stopped. The other parts keep running. */
  readonly died: Promise<string>
  serverPid(): number
  /** Ends the server with a signal, like a crash. */
  killServer(signal: NodeJS.Signals): Promise<void>
  /** Starts the server again after `killServer`. */
  startServer(): Promise<void>
  /** Starts another server process on the same database. With port 0, the system picks a free port. */
  addServer(options: { port: number; env?: Environment }): Promise<AddedServer>
  /** Stops everything, in order. A second call has no effect. */
  stop(): Promise<void>
}

type Stops = (() => Promise<void>)[]

/**
 * Starts the whole service on this machine, and resolves when it is ready for use. Writes `sandbox.json` last.
 *
 * @throws Error with one sentence if a port or the directory is in use, or a part does not start. In this case,
 * everything that was started is stopped again.
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

/**
 * Starts all parts. `stops` contains the functions that stop the parts, in the order in which they must be called. The
 * function of a part is added as soon as the start of the part begins.
 */
async function compose(options: SandboxOptions, stops: Stops): Promise<Omit<Sandbox, 'stop'>> {
  const { dataDir, port, onProgress = () => undefined, serverEnv = {}, durable = true, signal } = options
  const { enclaveProfile = 'realistic', memory = 'small', sellerStarts = 'when_needed' } = options
  const own = addressesFrom(port)
  const addresses = { ...own, enclaveUrl: options.enclaveUrl ?? own.enclaveUrl }
  const died = Promise.withResolvers<string>()
  const watched = untilEnd(died.promise, signal)

  removeFacts(dataDir)
  await endLeftovers(dataDir)
  const state = openState(dataDir)
  const fleet = new Supervisor({ state, record: openProcessRecord(dataDir), memory, onExit: died.resolve })
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

  const { walletSlots } = options
  mkdirSync(dirname(checkpointFile(dataDir)), { recursive: true })
  const env = (): Environment =>
    serverEnvironment({ addresses, state: state.current, databaseUrl, dataDir, walletSlots })
  const seller = new Seller(() =>
    fleet.start({
      name: 'seller',
      file: findProgram('seller'),
      logFile: logFile(dataDir, 'seller'),
      env: sellerEnvironment(addresses, state.current),
    }),
  )
  stops.unshift(() => seller.stop())
  const servers = new Servers({ fleet, logFile: logFile(dataDir, 'server'), env: () => ({ ...env(), ...serverEnv }) })
  stops.unshift(() => servers.stop())
  const serving = servers.start()
  const selling = sellerStarts === 'with_sandbox' ? seller.start() : null
  // The control API uses the server's code, so importing it takes time. The import runs while the server process
  // starts.
  const control = import('./control/open-control.ts')
  const [chains, { openControl }] = await watched(Promise.all([foundations.chains, control, serving]))
  onProgress(`server on ports ${addresses.ports.api} and ${addresses.ports.auth}`)

  const opening = openControl({
    env: env(),
    addresses,
    state,
    chains,
    fleet,
    seller,
    logFile: logFile(dataDir, 'control'),
    onFactsChanged: (changed) => writeFacts(dataDir, changed),
  })
  // The control API is stopped after the server, and before all parts that the control API or the server uses.
  stops.splice(1, 0, async () => (await opening.catch(() => null))?.close())
  const { facts } = await watched(opening)
  onProgress(`control API on port ${addresses.ports.control}`)
  if (selling !== null) {
    await watched(selling)
    onProgress(`seller on port ${addresses.ports.seller}`)
  }
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

/**
 * Returns a function that waits for a step of the start. The function rejects if a part exits or the start is aborted
 * before the step ends.
 */
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

/**
 * Stops all parts. If a part fails to stop, the other parts are stopped anyway, and the first error is thrown at the
 * end.
 */
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
