import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import pg from 'pg'
import { openService } from '../../server/src/service.ts'
import { seed } from '../support/context/seed.ts'
import { createFreshDatabase, SCHEMA } from '../support/database/fresh-database.ts'
import { readRows, runUnlimited } from '../support/database/read-rows.ts'
import { openTestService, paymentBody, withJobs, type TestService } from '../support/service/test-service.ts'
import { waitFor } from '../support/wait-for.ts'

const PROGRAM = fileURLToPath(new URL('../../server/src/migrate.ts', import.meta.url))
const run = promisify(execFile)

/** Migrations that the service does not apply (D76). */
describe('a service with MIGRATE=off', () => {
  const user = `service_${randomBytes(6).toString('hex')}`
  let given: TestService
  let owner: string
  before(async () => {
    given = await openTestService(async (config) => {
      owner = config.database.url
      const url = new URL(owner)
      url.username = user
      url.password = 'secret'
      for (const statement of [
        `create role ${user} login password 'secret'`,
        `grant usage on schema ${SCHEMA} to ${user}`,
        `grant select, insert, update, delete on all tables in schema ${SCHEMA} to ${user}`,
      ]) {
        await runUnlimited(owner, statement, [])
      }
      return withJobs({ ...config, migrates: false, database: { ...config.database, url: url.href } })
    })
  })
  after(async () => {
    const { url } = given.config.database
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await given.service.stop()
    await client.query(`drop owned by ${user}`)
    await client.query(`drop role ${user}`)
    await client.end()
    await given.close()
  })

  test('works with a database user that may not change the schema', async () => {
    const seeded = await seed(given.context)
    const answer = await given.call({
      method: 'POST',
      path: '/v1/payments',
      key: seeded.key,
      body: paymentBody(seeded),
    })
    assert.equal(answer.status, 201)
    await waitFor('a background job to take its lease', async () => {
      const rows = await readRows(given.context.db, `select 1 from leases where name = 'clean-up'`)
      return rows.length > 0
    })
    const users = await readRows(given.context.db, 'select distinct usename from pg_stat_activity where usename = $1', [
      user,
    ])
    assert.equal(users.length, 1)
  })

  test('does not start on an older schema, and starts after the program has migrated it', async () => {
    const empty = await createFreshDatabase({ empty: true })
    const config = { ...given.config, database: { ...given.config.database, url: empty.url }, migrates: false }
    try {
      await assert.rejects(openService(config), /does not have the migrations 0001, .* run "npm run migrate"/)
      const migrate = () => run(process.execPath, [PROGRAM], { env: { DATABASE_URL: empty.url } })
      assert.match((await migrate()).stdout, /^Applied the migrations 0001, /)
      assert.equal((await migrate()).stdout, 'The schema was up to date.\n')
      const service = await openService(config)
      await service.stop()
    } finally {
      await empty.drop()
    }
  })
})
