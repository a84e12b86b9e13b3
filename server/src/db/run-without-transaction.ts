import pg from 'pg'

/** Building an index waits for every transaction that was there before it. */
const LOCK_TIMEOUT_MS = 60_000
const BUILT_INDEX = /^create\s+(?:unique\s+)?index\s+concurrently\s+if\s+not\s+exists\s+(\w+)/i

/**
 * Runs statements one by one, each in no transaction, such that a run that was cut short is made good by another one: an
 * index that is there but was never finished is built anew.
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
