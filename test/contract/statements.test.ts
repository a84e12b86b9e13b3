import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { computed, pick } from '../../server/src/db/column.ts'
import { all, type Query } from '../../server/src/db/query.ts'
import { tables } from '../../server/src/db/tables.ts'
import { createFreshDatabase, type FreshDatabase } from '../support/database/fresh-database.ts'
import { describeStatement, findFaults, readCatalogue, type Catalogue } from './describe-statement.ts'
import { listNames, listStatements } from './every-statement.ts'

describe('the statements of the stores, prepared against a migrated database', () => {
  let database: FreshDatabase
  let client: pg.Client
  let catalogue: Catalogue
  let statements: readonly Query<unknown>[]
  before(async () => {
    database = await createFreshDatabase()
    client = new pg.Client({ connectionString: database.url })
    await client.connect()
    catalogue = await readCatalogue(client)
    statements = await listStatements()
  })
  after(async () => {
    await client.end()
    await database.drop()
  })

  async function check(query: Query<unknown>): Promise<string[]> {
    return findFaults(query, await describeStatement(client, query, catalogue))
  }

  test('every statement returns the columns that it declares, with their sources and types', async () => {
    const faults: string[] = []
    for (const statement of statements) faults.push(...(await check(statement)))
    assert.deepEqual(faults, [])
  })

  test("every statement's name in the sources is tested here", () => {
    const names = statements.map(({ name }) => name)
    const missing = listNames().filter((pattern) => !names.some((name) => pattern.test(name)))
    assert.deepEqual(missing, [], 'add a call of the function that makes it to VARIANTS in every-statement.ts')
  })

  test('statements with the same name have the same text', () => {
    const texts = new Map(statements.map(({ name, text }) => [name, text]))
    assert.deepEqual(
      statements.filter(({ name, text }) => texts.get(name) !== text).map(({ name }) => name),
      [],
    )
  })

  const WRONG: readonly { fault: string; text: string; read: Query<unknown>['read'] }[] = [
    { fault: 'wrong does not return id', text: 'select name from users', read: all(pick(tables.users, 'id'), String) },
    {
      fault: 'wrong returns count as int8, not int4',
      text: 'select count(*) from users',
      read: all({ count: computed.int4 }, String),
    },
    {
      fault: 'wrong returns id from users.id, not sessions.user_id',
      text: 'select id from users',
      read: all({ id: tables.sessions.user_id }, String),
    },
    {
      fault: 'wrong returns id from users.id, not computed',
      text: 'select id from users',
      read: all({ id: computed.text }, String),
    },
    {
      fault: 'wrong returns name more than once',
      text: 'select u.name, a.name from users u, workspaces a',
      read: all(pick(tables.users, 'name'), String),
    },
  ]
  for (const { fault, text, read } of WRONG) {
    test(`the test finds a wrong declaration: ${fault}`, async () => {
      assert.deepEqual(await check({ name: 'wrong', text, values: [], read }), [fault])
    })
  }

  test('a statement that PostgreSQL does not accept fails', async () => {
    await assert.rejects(
      check({ name: 'wrong', text: 'select nothing from users', values: [], read: () => null }),
      /column "nothing" does not exist/,
    )
  })
})
