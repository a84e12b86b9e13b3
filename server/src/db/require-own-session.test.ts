import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { hasOwnSession } from './require-own-session.ts'

describe('whether each connection has a session for itself', () => {
  let fresh: FreshDatabase
  let first: pg.Client
  let second: pg.Client
  before(async () => {
    fresh = await createFreshDatabase({ empty: true })
    first = new pg.Client({ connectionString: fresh.url })
    second = new pg.Client({ connectionString: fresh.url })
    await Promise.all([first.connect(), second.connect()])
  })
  after(async () => {
    await Promise.all([first.end(), second.end()])
    await fresh.drop()
  })

  test('a connection to PostgreSQL itself needs no second one', async () => {
    assert.equal(await hasOwnSession(first, () => assert.fail('no second connection is needed')), true)
  })

  test('a pooler in session mode gives each connection its own', async () => {
    assert.equal(await hasOwnSession(pooled(first), async () => pooled(second)), true)
  })

  test('a pooler in transaction mode gives the second connection the session that the first one had', async () => {
    assert.equal(await hasOwnSession(pooled(first), async () => pooled(first)), false)
  })

  test('a pooler in transaction mode that is busy gives the first connection another session', async () => {
    const third = new pg.Client({ connectionString: fresh.url })
    await third.connect()
    let next = first
    const query = async (text: string, values?: unknown[]) => {
      const client = next
      next = client === first ? second : first
      return await client.query(text, values)
    }
    assert.equal(await hasOwnSession(pooled({ query }), async () => third), false)
  })
})

/** A connection through a pooler, which reports a number of its own instead of the session's process. */
function pooled(session: { query(text: string, values?: unknown[]): Promise<pg.QueryResult> }): pg.Client {
  const query = (text: string, values?: unknown[]) => session.query(text, values)
  return { query, processID: 0, end: async () => undefined } as unknown as pg.Client
}
