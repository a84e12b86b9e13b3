import pg from 'pg'

/**
 * How long a statement waits for locks. It is long because building an index waits for every transaction that started
 * earlier.
 */
const LOCK_TIMEOUT_MS = 60_000
const BUILT_INDEX = /^create\s+(?:unique\s+)?index\s+concurrently\s+if\s+not\s+exists\s+(\w+)/i

/**
 * Runs statements one by one, without a transaction. If a run is interrupted, it may leave an unfinished index behind.
 * The next run drops that index and builds it again.
 */
export async function runWithoutTransaction(client: pg.Client, statements: readonly string[]): Promise<void> {
  await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`)
  for (const statement of statements) {
    const index = BUILT_INDEX.exec(statement)?.[1]
    if (index !== undefined && (await isUnfinished(client, index))) {
      await client.query(`drop index concurrently if exists ${index}`)
    }
    await client.query(statement)
  }
}

async function isUnfinished(client: pg.Client, index: string): Promise<boolean> {
  const text = 'select 1 from pg_index where indexrelid = to_regclass($1) and not indisvalid'
  return (await client.query(text, [index])).rowCount !== 0
}
