import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { DatabaseServers } from './database-servers.ts'
import { DatabaseUnavailable } from './errors.ts'
import { startRawServer } from '../../../test/support/wires/raw-server.ts'
import { openPipelinedConnection, type PipelinedConnection } from './pipelined-connection.ts'
import type { Query } from './query.ts'
import { waitFor } from '../../../test/support/wait-for.ts'

describe('a pipelined connection', () => {
  let fresh: FreshDatabase
  let other: pg.Client
  let connection: PipelinedConnection
  before(async () => {
    fresh = await createFreshDatabase({ empty: true })
    other = new pg.Client({ connectionString: fresh.url })
    await other.connect()
    connection = openPipelinedConnection({ servers: new DatabaseServers(fresh.url) })
  })
  after(async () => {
    await connection.close()
    await other.end()
    await fresh.drop()
  })

  test('many callers share one connection, and each gets its own result', async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => connection.run(echo(index))))
    assert.deepEqual(
      answers.map(({ value }) => value),
      Array.from({ length: 200 }, (_, index) => index),
    )
    assert.equal(new Set(answers.map(({ pid }) => pid)).size, 1)
  })

  test('only the caller of a statement gets its failure', async () => {
    const [before, failed, behind] = await Promise.allSettled([
      connection.run(echo(1)),
      connection.run(divideByZero),
      connection.run(echo(2)),
    ])
    assert.equal(before.status, 'fulfilled')
    assert.equal(behind.status, 'fulfilled')
    assert.ok(failed.status === 'rejected' && (failed.reason as { code: string }).code === '22012')
  })

  test('if its backend is terminated, statements in progress throw DatabaseUnavailable, and it reconnects', async () => {
    const { pid } = await connection.run(echo(0))
    const inFlight = [connection.run(sleep), connection.run(echo(1))].map((query) =>
      query.catch((error: unknown) => error),
    )
    await waitUntilAsleep(pid)
    await other.query('select pg_terminate_backend($1)', [pid])
    for (const outcome of await Promise.all(inFlight)) assert.ok(outcome instanceof DatabaseUnavailable)
    const { pid: next, value } = await connection.run(echo(7))
    assert.equal(value, 7)
    assert.notEqual(next, pid)
  })

  test('if its backend is terminated between two statements, it reconnects', async () => {
    const { pid } = await connection.run(echo(0))
    await other.query('select pg_terminate_backend($1, 5000)', [pid])
    const answer = await firstAnswer()
    assert.notEqual(answer.pid, pid)
  })

  test('once it is closed, statements are rejected, and no connection is opened', async () => {
    const server = await startRawServer(() => undefined)
    const servers = new DatabaseServers(`postgres://a@127.0.0.1:${server.port}/b`)
    const closed = openPipelinedConnection({ servers })
    await closed.close()
    await assert.rejects(closed.run(echo(0)), DatabaseUnavailable)
    assert.equal(server.connections.made, 0)
    await server.close()
  })

  async function waitUntilAsleep(pid: number): Promise<void> {
    const asleep = "select 1 from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'"
    await waitFor('the backend to sleep', async () => (await other.query(asleep, [pid])).rowCount !== 0)
  }

  /** Repeats a statement until it succeeds. Until the client notices a lost connection, statements can fail. */
  async function firstAnswer() {
    return await waitFor('a statement to be run', async () => {
      try {
        return await connection.run(echo(0))
      } catch (error) {
        assert.ok(error instanceof DatabaseUnavailable)
        return null
      }
    })
  }
})

function echo(value: number): Query<{ value: number; pid: number }> {
  return {
    name: 'test_echo',
    text: 'select $1::int as value, pg_backend_pid() as pid',
    values: [value],
    read: (rows) => ({ value: Number(rows[0]?.['value']), pid: Number(rows[0]?.['pid']) }),
  }
}

const sleep: Query<null> = { name: 'test_sleep', text: 'select pg_sleep(60)', values: [], read: () => null }
const divideByZero: Query<null> = { name: 'test_divide', text: 'select 1 / 0', values: [], read: () => null }
