import { parseArgs } from 'node:util'
import { ConfigError, readConfig } from '../config.ts'
import { migrate } from '../db/migrate.ts'
import { requireSchema } from '../db/require-schema.ts'
import { createClock } from '../lib/clock.ts'
import { createLogger } from '../lib/logger.ts'
import { describeForOperator } from '../lib/operator-error.ts'
import { openContext } from '../service.ts'
import { runAfterRestore } from './run-after-restore.ts'

const USAGE = `npm run after-restore -- [--yes] [--since <time>] [--new-log]

Run it after the database was restored from a backup. It compares the chains and the enclave with the ledger, and
records the transfers that no payment explains.
  --yes           also end all sessions, connections and invitations, and hold all API keys until an owner confirms them
  --since <time>  compare all blocks since this time again, such as 2026-11-27T10:00:00Z; needed after a failover to a
                  database that did not have every commit
  --new-log       begin a new transparency log, which says that the old one ended; needed after such a failover, and if
                  LOG_CHECKPOINT_FILE was not set before the restore. With --yes, a new log begins if leaves are missing
`
const SINCE_PATTERN = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/

/** The arguments are not valid. The error's message says why. */
class UsageError extends Error {}

const print = (line: string): void => void process.stdout.write(`${line}\n`)

try {
  const options = readArguments()
  const config = readConfig()
  const clock = createClock(config.clockOffsetMs)
  const logger = createLogger('fatal')
  if (config.migrates) await migrate(config.database.url, clock, { logger })
  else await requireSchema(config.database.url, clock)
  const { context, close } = openContext(config, { clock, logger })
  try {
    await runAfterRestore(context, { ...options, print })
  } finally {
    await close()
  }
} catch (error) {
  // Messages of other errors are not printed, because they might repeat what was sent.
  if (error instanceof ConfigError || error instanceof UsageError) print(`${error.message}\n\n${USAGE}`)
  else print(`Not finished (${describeForOperator(error)}). Nothing is lost. Run it again.`)
  process.exitCode = 1
}

function readArguments(): { confirmed: boolean; newLog: boolean; since: Date | null } {
  const flag = { type: 'boolean', default: false } as const
  const options = { yes: flag, 'new-log': flag, since: { type: 'string' } } as const
  let values: { yes: boolean; 'new-log': boolean; since?: string | undefined }
  try {
    values = parseArgs({ options, allowPositionals: false }).values
  } catch {
    throw new UsageError('Unknown argument.')
  }
  const flags = { confirmed: values.yes, newLog: values['new-log'] }
  if (values.since === undefined) return { ...flags, since: null }
  const since = new Date(values.since)
  if (!SINCE_PATTERN.test(values.since) || Number.isNaN(since.getTime())) {
    throw new UsageError('--since must be a time in UTC, such as 2026-11-27T10:00:00Z.')
  }
  return { ...flags, since }
}
