import type { Database } from '../../../server/src/db/database.ts'
import type { Query } from '../../../server/src/db/query.ts'

/** Locks a table, so that all its reads and writes wait until the returned function is called. */
export async function holdTable(db: Database, table: string): Promise<() => Promise<void>> {
  return await hold(db, {
    name: '',
    text: `lock table ${table} in access exclusive mode`,
    values: [],
    read: () => null,
  })
}

/** Runs a statement that takes a lock, and keeps the lock until the returned function is called. */
export async function hold(db: Database, statement: Query<unknown>): Promise<() => Promise<void>> {
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const over = db.transaction(async (transaction) => {
    // On a slow machine, a test may take longer than the service lets a transaction wait.
    await transaction.run({
      name: '',
      text: 'set local idle_in_transaction_session_timeout = 0',
      values: [],
      read: () => null,
    })
    await transaction.run(statement)
    held.resolve()
    await released.promise
  })
  await Promise.race([held.promise, over])
  return async () => {
    released.resolve()
    await over
  }
}

/** Counts the statements that wait for a lock on a table. */
export async function countWaitingFor(db: Database, table: string): Promise<number> {
  // All test files use one PostgreSQL, and the databases of most files are copies of one database. So a table has the
  // same number in all of them.
  const text = `select 1 from pg_locks where not granted and relation = $1::regclass
    and database = (select oid from pg_database where datname = current_database())`
  return await db.read({ name: 'count_waiting_for', text, values: [table], read: (rows) => rows.length })
}
