import type { StateFile } from '../state/sandbox-state.ts'
import type { Environment } from './environments.ts'
import type { ProcessRecord } from './process-record.ts'
import { startProgram, type Program } from './start-program.ts'

export interface FleetOptions {
  readonly state: StateFile
  readonly record: ProcessRecord
  readonly onExit: (detail: string) => void
}

export interface ProgramSpec {
  readonly name: string
  readonly file: URL
  readonly logFile: string
  readonly env: Environment
}

/** The programs that run as separate processes, so that one call moves the clock for all of them (D49). */
export class Supervisor {
  readonly #options: FleetOptions
  readonly #running = new Set<Program>()

  constructor(options: FleetOptions) {
    this.#options = options
  }

  async start(spec: ProgramSpec): Promise<Program> {
    const { record, state, onExit } = this.#options
    const program = await startProgram({ ...spec, onExit })
    record.add(program.pid)
    this.#running.add(program)
    // The clock may have been moved while it started.
    await program.setClockOffset(state.current.clockOffsetMs)
    const kill = async (signal: NodeJS.Signals): Promise<void> => {
      await program.kill(signal)
      if (this.#running.delete(program)) record.remove(program.pid)
    }
    return { ...program, kill, stop: () => kill('SIGTERM') }
  }

  /** Resolves when every program has the new time. */
  async setClockOffset(offsetMs: number): Promise<void> {
    await Promise.all([...this.#running].map((program) => program.setClockOffset(offsetMs)))
  }
}
