import type { Cli } from './cli.ts'

const SHOW_EVERY_MS = 1_000

/** Runs work while the terminal shows what the command waits for, and for how long. */
export async function waitWithProgress<Result>(
  { output }: Cli,
  what: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const startedAt = performance.now()
  const show = (): void => output.progress(`${what} (${Math.round((performance.now() - startedAt) / SHOW_EVERY_MS)} s)`)
  show()
  const timer = setInterval(show, SHOW_EVERY_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}
