import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { startTcpProxy, type Tap, type TcpProxy } from '../../../test/support/wires/tcp-proxy.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { runUnlimited } from '../../../test/support/database/read-rows.ts'
import { runOnServer } from '../../../test/support/database/test-server.ts'
import { createLogger } from '../lib/logger.ts'
import { Database } from './database.ts'
import { DatabaseReadOnly, DatabaseUnavailable } from './errors.ts'
import { migrate } from './migrate.ts'
import { createClock } from '../lib/clock.ts'
import type { Query } from './query.ts'

interface Used {
  readonly database: string
  readonly pid: number
}

const USED: Query<Used> = {
  name: 'used',
  text: 'select current_database() as database, pg_backend_pid() as pid',
  values: [],
  read: ([row]) => ({ database: String(row?.['database']), pid: Number(row?.['pid']) }),
}
const BECOME_READ_ONLY = sql('set default_transaction_read_only = on')
const WRITE = sql('insert into written default values')

/** Two databases, which act as two servers: `standby` accepts no writes until it is promoted. */
describe('the servers of a database', () => {
  let primary: FreshDatabase
  let standby: FreshDatabase
  before(async () => {
    ;[primary, standby] = await Promise.all([createFreshDatabase(), createFreshDatabase()])
    await runUnlimited(primary.url, 'create table written (at timestamptz)', [])
    await runOnServer(`alter database ${nameOf(standby)} set default_transaction_read_only = on`)
  })
  after(async () => {
    await Promise.all([primary.drop(), standby.drop()])
  })

  test('a connection whose server accepts no writes any more leaves the pool', async (t) => {
    const db = new Database({ url: primary.url, connectionsMax: 1 }, createLogger('silent'))
    t.after(() => db.close())
    const ways: readonly (<Result>(query: Query<Result>) => Promise<Result>)[] = [
      (query) => db.write(query),
      (query) => db.transaction((transaction) => transaction.run(query)),
      (query) => db.write(query, { mayBeLost: true }),
      (query) => db.write(query, { mayBeLost: true, isSlow: true }),
    ]
    for (const run of ways) {
      const { pid } = await run(USED)
      await run(BECOME_READ_ONLY)
      await assert.rejects(run(WRITE), DatabaseReadOnly)
      await run(WRITE)
      assert.notEqual((await run(USED)).pid, pid)
    }
    await db.read(BECOME_READ_ONLY)
    await assert.rejects(db.ping(), DatabaseReadOnly)
    await db.ping()
  })

  test('of several servers, the one that accepts writes is used; when it is lost, so is the one that takes its place', async (t) => {
    const servers = await startServers()
    t.after(() => servers.close())
    const db = new Database({ url: servers.url, connectionsMax: 2 }, createLogger('silent'))
    t.after(() => db.close())
    const ways = [() => db.read(USED), () => db.readSlow(USED), () => db.write(USED)]
    for (const run of ways) assert.equal((await run()).database, nameOf(primary))
    assert.deepEqual(await migrate(servers.url, createClock()), [])

    servers.first.cut()
    servers.second.cut()
    // The statement that is sent before the loss is noticed fails in another way.
    await db.write(USED).catch(() => undefined)
    for (const run of [...ways, () => db.ping()]) await assert.rejects(run(), DatabaseUnavailable)

    servers.first.restore()
    for (const run of ways) await assert.rejects(run(), DatabaseUnavailable)
    await runOnServer(`alter database ${nameOf(standby)} reset default_transaction_read_only`)
    for (const run of ways) {
      const { database } = await waitFor('the new primary', () => run().catch(() => null))
      assert.equal(database, nameOf(standby))
    }
  })

  /** The first server of the URL is the standby, and the second one the primary. */
  async function startServers() {
    const first = await startTcpProxy(primary.url, () => leadTo(standby))
    const second = await startTcpProxy(primary.url)
    const url = primary.url.replace(new URL(primary.url).host, `${hostOf(first)},${hostOf(second)}`)
    return { url, first, second, close: () => Promise.all([first.close(), second.close()]) }
  }

  /** Opens connections to another database than their client asks for. The names of both have the same length. */
  function leadTo(database: FreshDatabase): Tap {
    const asked = nameOf(primary)
    return {
      toServer: (chunk, pass) => pass(Buffer.from(chunk.toString('latin1').replace(asked, nameOf(database)), 'latin1')),
    }
  }
})

function nameOf({ url }: Pick<FreshDatabase, 'url'>): string {
  return new URL(url).pathname.slice(1)
}

function hostOf({ url }: Pick<TcpProxy, 'url'>): string {
  return new URL(url).host
}

function sql(text: string): Query<null> {
  return { name: '', text, values: [], read: () => null }
}
