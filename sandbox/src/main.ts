import { readConfig, refuseArguments, SandboxConfigError } from './config.ts'
import { formatWelcome } from './format-welcome.ts'
import { startSandbox, type Sandbox } from './start-sandbox.ts'

// `npm start` runs the whole service on this machine. Ctrl-C stops it.

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

async function main(): Promise<number> {
  // Resolves with an error message if a part fails, or with null if a person stops the sandbox.
  const { promise: ended, resolve: end } = Promise.withResolvers<string | null>()
  const starting = new AbortController()
  for (const signal of STOP_SIGNALS) {
    process.on(signal, () => {
      end(null)
      starting.abort()
    })
  }
  process.on('uncaughtException', (error) => end(`The sandbox itself failed: ${error.stack ?? error.message}.`))
  // If the terminal or a pipe is closed, writing fails. That must not prevent a clean stop of the child processes.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  const startedAt = performance.now()
  const sandbox = await start(starting.signal)
  if (sandbox === null) return starting.signal.aborted ? 0 : 1
  const { dataDir } = readConfig()
  print(`Ready after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s.`)
  print(formatWelcome(sandbox.facts, dataDir))

  const fault = await Promise.race([ended, sandbox.died])
  if (fault === null) print('Stopping.')
  else complain(`${fault} Everything else is stopped.`)
  await sandbox.stop()
  return fault === null ? 0 : 1
}

/**
 * Starts the sandbox. If it fails to start, prints a message and returns null. Also returns null if the start is
 * aborted.
 */
async function start(signal: AbortSignal): Promise<Sandbox | null> {
  try {
    refuseArguments()
    const { port, dataDir, enclaveProfile } = readConfig()
    print(`Bursar's sandbox starts, with its data in ${dataDir}. It holds no real money.`)
    return await startSandbox({
      port,
      dataDir,
      enclaveProfile,
      sellerStarts: 'with_sandbox',
      signal,
      onProgress: (line) => print(`  ${line}`),
    })
  } catch (error) {
    if (!signal.aborted) complain(describe(error))
    return null
  }
}

function describe(error: unknown): string {
  if (error instanceof SandboxConfigError) return error.message
  return error instanceof Error ? error.message : String(error)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function complain(text: string): void {
  process.stderr.write(`${text}\n`)
}

process.exit(await main())
