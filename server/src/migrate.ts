import { ConfigError, readDatabaseUrl } from './config.ts'
import { migrate } from './db/migrate.ts'
import { createClock } from './lib/clock.ts'
import { createLogger } from './lib/logger.ts'
import { textOf } from './lib/operator-error.ts'

// `npm run migrate` brings the database's schema up to date, and ends (D76). It needs only DATABASE_URL, with a user that
// owns the tables.
try {
  const applied = await migrate(readDatabaseUrl(), createClock(), { logger: createLogger('warn') })
  const outcome = applied.length === 0 ? 'The schema was up to date.' : `Applied the migrations ${applied.join(', ')}.`
  process.stdout.write(`${outcome}\n`)
} catch (error) {
  const message = error instanceof ConfigError ? error.message : `The database was not migrated: ${textOf(error)}`
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}
