import { inspectDatabase, type DatabaseFacts } from '../db/inspect-database.ts'
import type { Clock } from '../lib/clock.ts'
import { nameOf, type Finding } from './finding.ts'
import { assessSkew } from './assess-skew.ts'

/** PostgreSQL's and the system's codes for what is commonly wrong with DATABASE_URL. */
const CONNECT_FAULTS: Readonly<Record<string, string>> = {
  '28P01': 'the user or password was refused',
  '28000': 'the user was refused',
  '3D000': 'there is no database of this name',
  '53300': 'it has no connection left',
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its host is not known',
}

/** The database: reachable, of this version's schema, writable, and of the same time as we are. */
export async function checkDatabase(databaseUrl: string, clock: Clock): Promise<readonly Finding[]> {
  try {
    const { askedAt, ...facts } = await inspectDatabase(databaseUrl, () => clock.now())
    return [
      { level: 'ok', name: 'database', seen: `PostgreSQL ${facts.serverVersion} responds` },
      judgeSchema(facts),
      judgeWrites(facts),
      assessSkew('clock, beside the database', { ours: askedAt, theirs: facts.clock }),
    ]
  } catch (error) {
    const code = nameOf(error)
    const seen = CONNECT_FAULTS[code] ?? `it cannot be reached (${code})`
    return [{ level: 'fail', name: 'database', seen, todo: 'Check DATABASE_URL, and that PostgreSQL runs.' }]
  }
}

function judgeSchema({ pending, changed, unknown, applied }: DatabaseFacts): Finding {
  const name = 'schema'
  if (changed.length > 0) {
    const seen = `migrations were changed after they were applied: ${changed.join(', ')}`
    return { level: 'fail', name, seen, todo: 'Run the version of the service that this database belongs to.' }
  }
  if (unknown.length > 0) {
    const seen = `the database is ahead of this version: ${unknown.join(', ')}`
    return { level: 'fail', name, seen, todo: 'Run a version of the service that is at least as new.' }
  }
  if (pending.length > 0) {
    const seen = `not applied yet: ${pending.join(', ')}`
    return { level: 'warn', name, seen, todo: 'The service applies them when it starts.' }
  }
  return { level: 'ok', name, seen: `up to date (${applied.at(-1) ?? 'empty'})` }
}

function judgeWrites({ writeFault }: DatabaseFacts): Finding {
  const name = 'database writes'
  if (writeFault === null) return { level: 'ok', name, seen: 'accepted' }
  const todo = 'Let DATABASE_URL name the primary, and a user who owns the tables.'
  return { level: 'fail', name, seen: `refused (${writeFault})`, todo }
}
