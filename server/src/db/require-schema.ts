import type { Clock } from '../lib/clock.ts'
import { OperatorError } from '../lib/operator-error.ts'
import { inspectDatabase } from './inspect-database.ts'
import { changed, type Query } from './query.ts'
import { SESSION_SHARED } from './require-own-session.ts'

/** Finds a migration that was applied. Uses the primary key. */
export function hasMigration(version: string): Query<boolean> {
  return {
    name: 'has_migration',
    text: 'select 1 from schema_migrations where version = $1',
    values: [version],
    read: changed,
  }
}

/**
 * Throws unless each connection has a session for itself, and the database has all migrations of this version (D76). It
 * may have migrations of a later version, because this version works on a newer schema.
 */
export async function requireSchema(databaseUrl: string, clock: Clock): Promise<void> {
  const { pending, changed, hasOwnSession } = await inspectDatabase(databaseUrl, () => clock.now())
  if (!hasOwnSession) throw new OperatorError(SESSION_SHARED)
  if (changed.length > 0)
    throw new OperatorError(`migrations were changed after they were applied: ${changed.join(', ')}`)
  if (pending.length > 0) {
    throw new OperatorError(`the database does not have the migrations ${pending.join(', ')}: run "npm run migrate"`)
  }
}
