import type { Config } from '../config.ts'
import { inspectDatabase, type DatabaseFacts } from '../db/inspect-database.ts'
import type { Clock } from '../lib/clock.ts'
import { nameOf, type Finding } from './finding.ts'
import { assessSkew } from './assess-skew.ts'

/** What the error codes of PostgreSQL and of the operating system say about common mistakes in DATABASE_URL. */
const CONNECT_FAULTS: Readonly<Record<string, string>> = {
  '28P01': 'the user or password was rejected',
  '28000': 'the user was rejected',
  '3D000': 'there is no database of this name',
  '53300': 'it has no free connection',
  ECONNREFUSED: 'nothing is listening at this address',
  ENOTFOUND: 'its host name cannot be resolved',
}

/**
 * Checks that the database can be reached, accepts writes and has this version's schema, and that its clock agrees with
 * ours.
 */
export async function checkDatabase(
  { database, migrates }: Pick<Config, 'database' | 'migrates'>,
  clock: Clock,
): Promise<readonly Finding[]> {
  try {
    const { askedAt, ...facts } = await inspectDatabase(database.url, () => clock.now())
    return [
      { level: 'ok', name: 'database', observed: `PostgreSQL ${facts.serverVersion} responds` },
      ...assessSession(facts),
      assessSchema(facts, migrates),
      assessWrites(facts),
      assessSkew('clock, compared with the database', { ours: askedAt, theirs: facts.clock }),
    ]
  } catch (error) {
    const code = nameOf(error)
    const observed = CONNECT_FAULTS[code] ?? `it cannot be reached (${code})`
    return [
      { level: 'fail', name: 'database', observed, advice: 'Check DATABASE_URL, and that PostgreSQL is running.' },
    ]
  }
}

function assessSession({ hasOwnSession }: DatabaseFacts): Finding[] {
  if (hasOwnSession) return []
  const observed = 'a connection pooler gives each transaction another session of PostgreSQL'
  const advice = 'Set the pooler to session mode (pgbouncer: pool_mode = session), or connect to PostgreSQL directly.'
  return [{ level: 'fail', name: 'database sessions', observed, advice }]
}

function assessSchema({ pending, changed, unknown, applied }: DatabaseFacts, migrates: boolean): Finding {
  const name = 'schema'
  if (changed.length > 0) {
    const observed = `migrations were changed after they were applied: ${changed.join(', ')}`
    return { level: 'fail', name, observed, advice: 'Run the version of the service that applied these migrations.' }
  }
  if (unknown.length > 0) {
    const observed = `the database has migrations of a newer version: ${unknown.join(', ')}`
    return { level: 'fail', name, observed, advice: 'Run that version of the service, or a newer one.' }
  }
  if (pending.length > 0) {
    const observed = `not applied yet: ${pending.join(', ')}`
    return migrates
      ? { level: 'warn', name, observed, advice: 'The service applies them when it starts.' }
      : { level: 'fail', name, observed, advice: 'Run "npm run migrate", because MIGRATE is off.' }
  }
  return { level: 'ok', name, observed: `up to date (${applied.at(-1) ?? 'empty'})` }
}

function assessWrites({ writeFault }: DatabaseFacts): Finding {
  const name = 'database writes'
  if (writeFault === null) return { level: 'ok', name, observed: 'accepted' }
  const advice = 'Set DATABASE_URL to the primary server, with a user that may write to the tables.'
  return { level: 'fail', name, observed: `rejected (${writeFault})`, advice }
}
