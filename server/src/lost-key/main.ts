import { parseArgs } from 'node:util'
import { ConfigError, readConfig } from '../config.ts'
import { requireSchema } from '../db/require-schema.ts'
import { createClock } from '../lib/clock.ts'
import { createLogger } from '../lib/logger.ts'
import { describeForOperator } from '../lib/operator-error.ts'
import { openContext } from '../service.ts'
import { runLostKey } from './run-lost-key.ts'

const USAGE = `npm run lost-key -- [--retire <number>]

Run it if an encryption key is lost for good, with the service stopped and a new key in the settings. It says which
stored secrets no key of the settings decrypts, and changes nothing.
  --retire <number>  retire these secrets, so that the service can start; the number is the one that the command prints
`

/** The arguments are not valid. The error's message says why. */
class UsageError extends Error {}

const print = (line: string): void => void process.stdout.write(`${line}\n`)

try {
  const retired = readArguments()
  const config = readConfig()
  const clock = createClock(config.clockOffsetMs)
  await requireSchema(config.database.url, clock)
  const { context, close } = openContext(config, { clock, logger: createLogger('fatal') })
  try {
    const { isRefused } = await runLostKey(context, { keys: config.encryptionKeys, retired, print })
    if (isRefused) process.exitCode = 1
  } finally {
    await close()
  }
} catch (error) {
  const isUsage = error instanceof ConfigError || error instanceof UsageError
  print(isUsage ? `${error.message}\n\n${USAGE}` : `Not finished: ${describeForOperator(error)}. Run it again.`)
  process.exitCode = 1
}

function readArguments(): number | null {
  let retire: string | undefined
  try {
    retire = parseArgs({ options: { retire: { type: 'string' } }, allowPositionals: false }).values.retire
  } catch {
    throw new UsageError('Unknown argument.')
  }
  if (retire === undefined) return null
  if (!/^\d{1,15}$/.test(retire)) throw new UsageError('--retire must be the number that the command prints.')
  return Number(retire)
}
