import type { StateFile } from '../state/sandbox-state.ts'
import type { Environment } from './environments.ts'
import type { ProcessRecord } from '../state/process-record.ts'
import { startProgram, type Memory, type Program } from './start-program.ts'

export interface FleetOptions {
  readonly state: StateFile
  readonly record: ProcessRecord
  readonly memory: Memory
  readonly onExit: (detail: string) => void
}

export interface ProgramSpec {
  readonly name: string
  readonly file: URL
  readonly logFile: string
  readonly env: Environment
}

/**
 * Starts programs as separate processes, and keeps a list of those that are running. So one call moves the clock of all
 * of them (D49).
 */
export class Supervisor {
  readonly #options: FleetOptions
  readonly #running = new Set<Program>()

  constructor(options: FleetOptions) {
    this.#options = options
  }

  async start(spec: ProgramSpec): Promise<Program> {
    const { record, state, memory, onExit } = this.#options
    const program = await startProgram({ ...spec, memory, onExit })
    record.add(program.pid)
    this.#running.add(program)
    const kill = async (signal: NodeJS.Signals): Promise<void> => {
      await program.kill(signal)
      if (this.#running.delete(program)) record.remove(program.pid)
    }
    try {
      // The clock may have been moved while the program was starting.
      await program.setClockOffset(state.current.clockOffsetMs)
    } catch (error) {
      // The caller has no program that it could stop.
      await kill('SIGKILL')
      throw error
    }
    return { ...program, kill, stop: () => kill('SIGTERM') }
  }

  /** Sets the clock offset of every program. Resolves once all of them use it. */
  async setClockOffset(offsetMs: number): Promise<void> {
    await Promise.all([...this.#running].map((program) => program.setClockOffset(offsetMs)))
  }
}
