import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { startRawServer } from '../../../test/support/wires/raw-server.ts'
import { createLogger } from '../lib/logger.ts'
import { Database } from './database.ts'
import { DatabaseUnavailable } from './errors.ts'
import type { Query } from './query.ts'

const CALLS = 10
/**
 * Returns which process of PostgreSQL serves the connection. Because of the short sleep, statements that are sent
 * together overlap.
 */
const CONNECTION: Query<number> = {
  name: '',
  text: 'select pg_backend_pid() as pid from pg_sleep(0.01)',
  values: [],
  read: ([row]) => Number(row?.['pid']),
}
const FAILURE: Query<number> = { ...CONNECTION, text: 'select 1 / 0 as pid' }

describe('the connections of a process', () => {
  let fresh: FreshDatabase
  let db: Database
  before(async () => {
    fresh = await createFreshDatabase()
  })
  beforeEach(() => {
    db = new Database({ url: fresh.url, connectionsMax: 8 }, createLogger('silent'))
  })
  afterEach(() => db.close())
  after(() => fresh.drop())

  test('relaxed statements share one connection while they do not overlap, and otherwise two', async () => {
    const found = new Set<number>()
    for (let call = 0; call < CALLS; call += 1) found.add(await db.runRelaxed(CONNECTION))
    assert.equal(found.size, 1)
    const overlapping = await Promise.all(Array.from({ length: CALLS }, () => db.runRelaxed(CONNECTION)))
    assert.equal(new Set(overlapping).size, 2)
  })

  test('statements in turn need one connection, also if they begin together; durable ones need several', async () => {
    const inTurn = await Promise.all(Array.from({ length: CALLS }, () => db.runInTurn(CONNECTION)))
    assert.equal(new Set(inTurn).size, 1)
    const durable = await Promise.all(Array.from({ length: CALLS }, () => db.runDurable(CONNECTION)))
    assert.ok(new Set(durable).size > 1)
  })

  test('each kind of connection plans a prepared statement without the values of its parameters, from the first execution on', async () => {
    const named: Query<null> = { name: 'planned', text: 'select $1::int as n', values: [1], read: () => null }
    const plans: Query<unknown> = {
      name: '',
      text: "select generic_plans, custom_plans from pg_prepared_statements where name = 'planned'",
      values: [],
      read: ([row]) => row,
    }
    for (const run of [
      <Result>(query: Query<Result>) => db.runRelaxed(query),
      <Result>(query: Query<Result>) => db.runSlow(query),
      <Result>(query: Query<Result>) => db.runDurable(query),
    ]) {
      await run(named)
      assert.deepEqual(await run(plans), { generic_plans: '1', custom_plans: '0' })
    }
  })

  test('a statement in turn runs although an earlier one fails', async () => {
    const [failed, next] = await Promise.allSettled([db.runInTurn(FAILURE), db.runInTurn(CONNECTION)])
    assert.equal(failed.status, 'rejected')
    assert.equal(next.status, 'fulfilled')
  })

  test('if the database does not respond, all statements in turn fail after one attempt, and the next one tries again', async () => {
    const silent = await startRawServer(() => undefined)
    const lost = new Database(
      { url: `postgres://a@127.0.0.1:${silent.port}/b`, connectionsMax: 8 },
      createLogger('silent'),
    )
    try {
      for (const attempts of [1, 2]) {
        const outcomes = await Promise.allSettled(Array.from({ length: CALLS }, () => lost.runInTurn(CONNECTION)))
        for (const outcome of outcomes) {
          assert.ok(outcome.status === 'rejected' && outcome.reason instanceof DatabaseUnavailable)
        }
        assert.equal(silent.connections.made, attempts)
      }
    } finally {
      await lost.close()
      await silent.close()
    }
  })
})
