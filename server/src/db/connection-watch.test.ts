import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countWaitingFor, holdTable } from '../../../test/support/database/hold-table.ts'
import { createFreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { runUnlimited } from '../../../test/support/database/read-rows.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { startTcpProxy } from '../../../test/support/wires/tcp-proxy.ts'
import { createLogger } from '../lib/logger.ts'
import { Database } from './database.ts'
import { CommitUnknown, DatabaseUnavailable } from './errors.ts'
import type { Query } from './query.ts'

const GATHERED = {
  isDurable: false,
  keyOf: () => null,
  run: async (lane: { run(query: Query<number>): Promise<number> }, items: readonly number[]) => {
    const session = await lane.run(SESSION)
    return items.map(() => session)
  },
}
const SESSION: Query<number> = {
  name: 'session',
  text: 'select pg_backend_pid() as pid',
  values: [],
  read: ([row]) => Number(row?.['pid']),
}
const LOCKED: Query<null> = { name: '', text: 'insert into locked default values', values: [], read: () => null }

test('connections that lead nowhere are closed, and one whose statement waits for a lock is kept', async (t) => {
  const fresh = await createFreshDatabase()
  await runUnlimited(fresh.url, 'create table locked (at timestamptz)', [])
  const opened: { isLost: boolean }[] = []
  const proxy = await startTcpProxy(fresh.url, () => {
    const connection = { isLost: false }
    opened.push(connection)
    return {
      toServer: (chunk, pass) => {
        if (!connection.isLost) pass(chunk)
      },
      toClient: (chunk, pass) => {
        if (!connection.isLost) pass(chunk)
      },
    }
  })
  const [db, direct] = [proxy, fresh].map(({ url }) => new Database({ url, connectionsMax: 3 }, createLogger('silent')))
  assert.ok(db !== undefined && direct !== undefined)
  const release = await holdTable(direct, 'locked')
  t.after(async () => {
    await release()
    await proxy.close()
    await Promise.all([db.close(), direct.close()])
    await fresh.drop()
  })

  const waiting = db.write(LOCKED)
  await waitFor('the write to wait', async () => (await countWaitingFor(direct, 'locked')) > 0)
  const kept = opened.length
  const ways = [
    () => db.read(SESSION),
    () => db.readSlow(SESSION),
    () => db.gather(GATHERED, 1),
    () => db.write(SESSION),
    () => db.transaction((transaction) => transaction.run(SESSION)),
  ]
  // The last two use one connection if they follow each other, so they run twice at once.
  const sessions = await Promise.all([...ways, ...ways].map((run) => run()))
  for (const connection of opened.slice(kept)) connection.isLost = true

  const outcomes = await Promise.allSettled(ways.map((run) => run()))
  for (const outcome of outcomes) {
    assert.ok(outcome.status === 'rejected')
    const { reason } = outcome
    assert.ok(reason instanceof DatabaseUnavailable || reason instanceof CommitUnknown)
    assert.match(String(reason.cause), /the connection got no response/)
  }
  const later = await Promise.all([...ways, ...ways].map((run) => run()))
  for (const session of later) assert.ok(!sessions.includes(session))
  await release()
  await waiting
})
