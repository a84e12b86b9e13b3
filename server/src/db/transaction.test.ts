import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { startTcpProxy } from '../../../test/support/wires/tcp-proxy.ts'
import { createLogger } from '../lib/logger.ts'
import { Database } from './database.ts'
import { CommitUnknown, DatabaseUnavailable } from './errors.ts'
import type { Query } from './query.ts'
import { waitFor } from '../../../test/support/wait-for.ts'

describe('a transaction', () => {
  let fresh: FreshDatabase
  let db: Database
  let single: Database
  before(async () => {
    fresh = await createFreshDatabase({ empty: true })
    db = new Database({ url: fresh.url, connectionsMax: 4 }, createLogger('silent'))
    single = new Database({ url: fresh.url, connectionsMax: 1 }, createLogger('silent'))
    await db.write(sql('create table counters (id text primary key, value bigint not null)'))
  })
  after(async () => {
    await Promise.all([db.close(), single.close()])
    await fresh.drop()
  })

  test('if a statement fails, the pipelined commit throws its error, nothing is stored, and the connection is usable', async () => {
    await assert.rejects(
      single.transaction((transaction) => transaction.commit([insert('a'), insert('a'), insert('b')])),
      { code: '23505' },
    )
    assert.equal(await find('a'), null)
    assert.equal(await find('b'), null)
    await single.transaction((transaction) => transaction.commit([insert('c')]))
    assert.equal(await find('c'), 0)
  })

  test('if an operation ignores the error of a failed statement, the commit throws anyway', async () => {
    await assert.rejects(
      single.transaction(async (transaction) => {
        await transaction.batch([insert('d')])
        await transaction.run(insert('d')).catch(() => null)
        await transaction.commit([])
      }),
      /PostgreSQL responded to the commit with ROLLBACK/,
    )
    assert.equal(await find('d'), null)
  })

  test('an operation that throws is rolled back, and one that leaves the transaction open is committed', async () => {
    await assert.rejects(
      single.transaction(async (transaction) => {
        await transaction.run(insert('e'))
        throw new Error('on purpose')
      }),
      /on purpose/,
    )
    assert.equal(await find('e'), null)
    await single.transaction((transaction) => transaction.run(insert('e')))
    assert.equal(await find('e'), 0)
  })

  test('a transaction that conflicts with another one is tried at most four times', async () => {
    for (const [failures, code] of [
      [3, '40001'],
      [3, '40P01'],
      [4, '40001'],
    ] as const) {
      let attempts = 0
      const outcome = single.transaction(async (transaction) => {
        attempts += 1
        if (attempts <= failures) await transaction.run(fail(code))
        return 'done'
      })
      if (failures < 4) assert.equal(await outcome, 'done')
      else await assert.rejects(outcome, { code })
      assert.equal(attempts, 4)
    }
  })

  test('a transaction with any other failure is not tried again', async () => {
    let attempts = 0
    const outcome = single.transaction(async (transaction) => {
      attempts += 1
      await transaction.run(fail('23514'))
    })
    await assert.rejects(outcome, { code: '23514' })
    assert.equal(attempts, 1)
  })

  test('two transactions in a deadlock both succeed in the end', async () => {
    await db.transaction((transaction) => transaction.commit([insert('left'), insert('right')]))
    const arrived = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    const work = (first: string, second: string, me: 0 | 1) =>
      db.transaction(async (transaction) => {
        await transaction.run(increment(first))
        arrived[me].resolve()
        await arrived[me === 0 ? 1 : 0].promise
        await transaction.commit([increment(second)])
      })
    await Promise.all([work('left', 'right', 0), work('right', 'left', 1)])
    assert.deepEqual([await find('left'), await find('right')], [2, 2])
  })

  test('a connection that is lost before the commit throws DatabaseUnavailable, and the next transaction gets a new one', async () => {
    await assert.rejects(
      single.transaction(async (transaction) => {
        await transaction.run(insert('f'))
        await transaction.run(terminateSelf)
      }),
      DatabaseUnavailable,
    )
    assert.equal(await find('f'), null)
    await single.transaction((transaction) => transaction.commit([insert('f')]))
    assert.equal(await find('f'), 0)
  })

  test('a backend that ends before it receives the commit has stored nothing: DatabaseUnavailable', async () => {
    await assert.rejects(
      single.transaction((transaction) => transaction.commit([insert('g'), terminateSelf])),
      DatabaseUnavailable,
    )
    assert.equal(await find('g'), null)
  })

  test('a connection that is lost during the commit throws CommitUnknown, because the changes may be stored', async () => {
    const proxy = await startTcpProxy(fresh.url)
    const proxied = new Database({ url: proxy.url, connectionsMax: 1 }, createLogger('silent'))
    const outcome = proxied.transaction(async (transaction) => {
      await transaction.run(insert('h'))
      proxy.loseAnswers()
      await transaction.commit([increment('h')])
    })
    outcome.catch(() => undefined)
    await waitFor('the commit', async () => (await find('h')) === 1)
    proxy.cut()
    await assert.rejects(outcome, CommitUnknown)
    proxy.restore()
    await proxied.transaction((transaction) => transaction.commit([increment('h')]))
    assert.equal(await find('h'), 2)
    await Promise.all([proxied.close(), proxy.close()])
  })

  test('a database that cannot be reached throws DatabaseUnavailable', async () => {
    const url = new URL(fresh.url)
    url.pathname = '/absent'
    const absent = new Database({ url: url.href, connectionsMax: 1 }, createLogger('silent'))
    url.port = '1'
    const unreachable = new Database({ url: url.href, connectionsMax: 1 }, createLogger('silent'))
    await assert.rejects(
      unreachable.transaction((transaction) => transaction.commit([])),
      DatabaseUnavailable,
    )
    await assert.rejects(unreachable.write(sql('select 1')), DatabaseUnavailable)
    await assert.rejects(unreachable.read(sql('select 1')), DatabaseUnavailable)
    await assert.rejects(absent.read(sql('select 1')), { code: '3D000' })
    await Promise.all([absent.close(), unreachable.close()])
  })

  function find(id: string): Promise<number | null> {
    return db.read({
      name: 'test_find',
      text: 'select value from counters where id = $1',
      values: [id],
      read: (rows) => (rows[0] === undefined ? null : Number(rows[0]['value'])),
    })
  }
})

const terminateSelf = sql('select pg_terminate_backend(pg_backend_pid())')

function sql(text: string): Query<number> {
  return { name: '', text, values: [], read: (_rows, count) => count }
}

function insert(id: string): Query<null> {
  return { name: 'test_insert', text: 'insert into counters values ($1, 0)', values: [id], read: () => null }
}

function increment(id: string): Query<null> {
  return {
    name: 'test_increment',
    text: 'update counters set value = value + 1 where id = $1',
    values: [id],
    read: () => null,
  }
}

function fail(code: string): Query<number> {
  return sql(`do $$ begin raise exception 'on purpose' using errcode = '${code}'; end $$`)
}
