import type { Program } from './start-program.ts'

/** The sandbox's seller. It may start long after the sandbox, because few tests use it. */
export class Seller {
  readonly #startProgram: () => Promise<Program>
  #starting: Promise<Program> | null = null

  constructor(startProgram: () => Promise<Program>) {
    this.#startProgram = startProgram
  }

  /** Starts the seller if it was not started before. Resolves when it is ready. */
  async start(): Promise<void> {
    this.#starting ??= this.#startProgram()
    await this.#starting
  }

  /** Stops the seller. Waits first if it is still starting. */
  async stop(): Promise<void> {
    await (await this.#starting?.catch(() => null))?.stop()
  }
}
