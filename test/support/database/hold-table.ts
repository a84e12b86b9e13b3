import type { Database } from '../../../server/src/db/database.ts'

/**
 * Locks a table, so that all its reads and writes wait until the returned function is called. Call that function before
 * the time limits of `db` expire.
 */
export async function holdTable(db: Database, table: string): Promise<() => Promise<void>> {
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const text = `lock table ${table} in access exclusive mode`
  const over = db.transaction(async (transaction) => {
    await transaction.run({ name: '', text, values: [], read: () => null })
    held.resolve()
    await released.promise
  })
  await Promise.race([held.promise, over])
  return async () => {
    released.resolve()
    await over
  }
}
