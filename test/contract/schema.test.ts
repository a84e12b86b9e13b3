import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { readSchema, type Schema } from '../../server/scripts/read-schema.ts'
import { renderSchema } from '../../server/scripts/render-schema.ts'
import { renderTables } from '../../server/scripts/render-tables.ts'
import { createFreshDatabase, type FreshDatabase } from '../support/database/fresh-database.ts'

const SCHEMA_FILE = new URL('../../server/schema.sql', import.meta.url)
const TABLES_FILE = new URL('../../server/src/db/tables.ts', import.meta.url)
const ADVICE = 'the migrations have changed: run npm run schema, and review the difference'

describe('the files that are generated from the migrations', () => {
  let migrated: FreshDatabase
  let schema: Schema
  before(async () => {
    migrated = await createFreshDatabase()
    schema = await withClient(migrated, readSchema)
  })
  after(() => migrated.drop())

  test('schema.sql is the schema that the migrations make', async () => {
    assert.equal(await readFile(SCHEMA_FILE, 'utf8'), renderSchema(schema), ADVICE)
  })

  test('db/tables.ts has the columns that the migrations make', async () => {
    assert.equal(await readFile(TABLES_FILE, 'utf8'), renderTables(schema), ADVICE)
  })

  test('schema.sql makes the same schema on an empty database', async () => {
    const empty = await createFreshDatabase({ empty: true })
    try {
      const made = await withClient(empty, async (client) => {
        await client.query(await readFile(SCHEMA_FILE, 'utf8'))
        return await readSchema(client)
      })
      assert.equal(renderSchema(made), renderSchema(schema))
    } finally {
      await empty.drop()
    }
  })
})

async function withClient<Result>(
  { url }: FreshDatabase,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
