// `npm run schema` must be run after a migration was added. It applies all migrations to a database, and writes the
// resulting schema to two files: as SQL for people to read, and as a list of the columns that the stores read.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { readSchema } from '../server/scripts/read-schema.ts'
import { renderSchema } from '../server/scripts/render-schema.ts'
import { renderTables } from '../server/scripts/render-tables.ts'
import { migrate } from '../server/src/db/migrate.ts'
import { createClock } from '../server/src/lib/clock.ts'
import { makeDataDir } from '../sandbox/src/throw-away-sandbox.ts'
import { startTestDatabase } from './test-database.ts'

const folder = await makeDataDir()
const database = await startTestDatabase(join(folder, 'postgres'))
const client = new pg.Client({ connectionString: database.url })
try {
  await migrate(database.url, createClock())
  await client.connect()
  const schema = await readSchema(client)
  await writeFile(new URL('../server/schema.sql', import.meta.url), renderSchema(schema))
  await writeFile(new URL('../server/src/db/tables.ts', import.meta.url), renderTables(schema))
} finally {
  await client.end()
  await database.stop()
  await rm(folder, { recursive: true })
}
