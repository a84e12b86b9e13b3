import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { createLogger } from '../lib/logger.ts'
import { Database, type LosableWrite } from './database.ts'
import type { Query } from './query.ts'
import type { Precedence } from './transaction-connections.ts'

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

  test('reads share one connection while they do not overlap, and otherwise two', async () => {
    const found = new Set<number>()
    for (let call = 0; call < CALLS; call += 1) found.add(await db.read(CONNECTION))
    assert.equal(found.size, 1)
    const overlapping = await Promise.all(Array.from({ length: CALLS }, () => db.read(CONNECTION)))
    assert.equal(new Set(overlapping).size, 2)
  })

  test('writes that may be lost use the connections of reads, and durable writes use others', async () => {
    const writeAll = async (options: LosableWrite | Precedence) =>
      new Set(await Promise.all(Array.from({ length: CALLS }, () => db.write(CONNECTION, options))))
    const [reads, losable, durable] = [
      await Promise.all(Array.from({ length: CALLS }, () => db.read(CONNECTION))),
      await writeAll({ mayBeLost: true }),
      await writeAll({}),
    ]
    assert.deepEqual(losable, new Set(reads))
    assert.ok(durable.size > 2 && reads.every((connection) => !durable.has(connection)))
  })

  test('several reads share one connection, and each gets its own result', async () => {
    const number = (value: number): Query<readonly [number, number]> => ({
      name: '',
      text: 'select $1::int as value, pg_backend_pid() as pid from pg_sleep(0.01)',
      values: [value],
      read: ([row]) => [Number(row?.['value']), Number(row?.['pid'])],
    })
    const [[one, process], [two, sameProcess]] = await db.read([number(1), number(2)])
    assert.deepEqual([one, two, sameProcess], [1, 2, process])
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
      <Result>(query: Query<Result>) => db.read(query),
      <Result>(query: Query<Result>) => db.readSlow(query),
      <Result>(query: Query<Result>) => db.write(query),
    ]) {
      await run(named)
      assert.deepEqual(await run(plans), { generic_plans: '1', custom_plans: '0' })
    }
  })
})
