import type { Environment } from './environments.ts'
import { findProgram } from './programs.ts'
import type { Supervisor } from './supervisor.ts'
import type { Program } from './start-program.ts'

export interface AddedServer {
  readonly baseUrl: string
  readonly pid: number
  stop(): Promise<void>
  /** Ends the server with a signal, like a crash. */
  kill(signal: NodeJS.Signals): Promise<void>
}

export interface ServersOptions {
  readonly fleet: Supervisor
  readonly logFile: string
  /** Returns the environment. Called at each start, because the clock may have been moved since the last start. */
  readonly env: () => Environment
}

/** The sandbox's main server, and any additional servers on the same database. */
export class Servers {
  readonly #options: ServersOptions
  readonly #starting = new Set<Promise<Program>>()
  #main: Program | null = null

  constructor(options: ServersOptions) {
    this.#options = options
  }

  /** Starts the main server. */
  async start(): Promise<void> {
    this.#main = await this.#start({})
  }

  async add({ port, env = {} }: { port: number; env?: Environment | undefined }): Promise<AddedServer> {
    const program = await this.#start({ PORT: String(port), AUTH_PORT: '', ...env })
    return {
      baseUrl: `http://localhost:${firstPort(program.ready)}`,
      pid: program.pid,
      stop: () => program.stop(),
      kill: (signal) => program.kill(signal),
    }
  }

  /** Ends the main server with a signal, like a crash. */
  async kill(signal: NodeJS.Signals): Promise<void> {
    await this.#main?.kill(signal)
  }

  get pid(): number {
    if (this.#main === null) throw new Error('The server was not started.')
    return this.#main.pid
  }

  /** Stops all servers. Waits first for servers that are still starting. */
  async stop(): Promise<void> {
    await Promise.all([...this.#starting].map(async (program) => (await program.catch(() => null))?.stop()))
  }

  async #start(change: Environment): Promise<Program> {
    const { env, fleet, logFile } = this.#options
    const starting = fleet.start({ name: 'server', file: findProgram('server'), logFile, env: { ...env(), ...change } })
    this.#starting.add(starting)
    return await starting
  }
}

function firstPort(ready: Readonly<Record<string, unknown>>): number {
  const ports = ready['ports']
  const [port] = Array.isArray(ports) ? (ports as unknown[]) : []
  if (typeof port !== 'number') throw new Error('The server did not report its port.')
  return port
}
