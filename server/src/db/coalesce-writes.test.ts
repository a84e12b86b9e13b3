import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import pg from 'pg'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { enableCoalescing, coalesceWrites } from './coalesce-writes.ts'

/** A socket that counts its writes to the operating system. */
class CountingSocket extends Socket {
  writes = 0

  override _write(...call: Parameters<Socket['_write']>): void {
    this.writes += 1
    // oxlint-disable-next-line no-underscore-dangle -- the name is Node's
    super._write(...call)
  }

  override _writev(...call: Parameters<NonNullable<Socket['_writev']>>): void {
    this.writes += 1
    // oxlint-disable-next-line no-underscore-dangle -- the name is Node's
    super._writev?.(...call)
  }
}

/*
 * `coalesce-writes.ts` relies on behavior of pg that is not documented. These tests fail if an update of pg changes it:
 * - `client.connection.stream` is the socket to which statements are written;
 * - a client with `pipeline: true` writes a statement inside the call of `query`, even while others are in flight;
 * - it writes each statement separately, and corks and uncorks the socket each time. The socket counts corks, so our
 *   own cork stays in effect meanwhile.
 */
describe('writes to the database', () => {
  const socket = new CountingSocket()
  let fresh: FreshDatabase
  let client: pg.Client
  before(async () => {
    fresh = await createFreshDatabase({ empty: true })
    client = new pg.Client({ connectionString: fresh.url, pipeline: true, stream: () => socket })
    await client.connect()
  })
  beforeEach(() => {
    socket.writes = 0
  })
  after(async () => {
    await client.end()
    await fresh.drop()
  })

  const sendThree = (): Promise<number>[] => [1, 2, 3].map(echo)

  async function echo(value: number): Promise<number> {
    const { rows } = await client.query<{ value: number }>({
      name: 'test_echo',
      text: 'select $1::integer as value',
      values: [value],
    })
    return rows[0]?.value ?? Number.NaN
  }

  test('pg offers its socket as connection.stream', () => {
    assert.equal(client.connection.stream, socket)
  })

  test('pg writes each statement when it is called, while others are in flight', async () => {
    const counts: number[] = []
    const sent = [1, 2, 3].map((value) => {
      const answer = echo(value)
      counts.push(socket.writes)
      return answer
    })
    assert.deepEqual(counts, [1, 2, 3])
    assert.deepEqual(await Promise.all(sent), [1, 2, 3])
    assert.equal(socket.writes, 3, 'nothing is written after the calls')
  })

  test('statements that are sent inside coalesceWrites leave in one write', async () => {
    const sent = coalesceWrites(client, sendThree)
    assert.equal(socket.writes, 1)
    assert.deepEqual(await Promise.all(sent), [1, 2, 3])
    assert.equal(socket.writes, 1)
  })

  test('a sender that throws does not leave the connection corked', async () => {
    const fail = (): never => {
      throw new Error('on purpose')
    }
    assert.throws(() => coalesceWrites(client, fail), /on purpose/)
    assert.equal(socket.writableCorked, 0)
    assert.equal(await echo(4), 4)
  })

  test('statements that are sent after enableCoalescing leave in one write, and later statements are not delayed', async () => {
    enableCoalescing(client)
    const sent = sendThree()
    enableCoalescing(client)
    const behind = Promise.resolve().then(() => echo(4))
    assert.equal(socket.writes, 0)
    assert.deepEqual(await Promise.all([...sent, behind]), [1, 2, 3, 4])
    assert.equal(socket.writes, 1)
    assert.equal(socket.writableCorked, 0)
  })
})
