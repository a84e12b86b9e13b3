import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { createLogger } from '../lib/logger.ts'
import { Database } from './database.ts'
import { giveBackLease, takeLease } from './leases.ts'

const START = Date.UTC(2026, 0, 1)
const LEASE_MS = 10_000

describe('leases', () => {
  let fresh: FreshDatabase
  let db: Database
  before(async () => {
    fresh = await createFreshDatabase()
    db = new Database({ url: fresh.url, connectionsMax: 8 }, createLogger('silent'))
  })
  after(async () => {
    await db.close()
    await fresh.drop()
  })

  test('of many that reach for it at once, one takes it', async () => {
    const taken = await Promise.all(Array.from({ length: 20 }, (_, index) => take('race', `holder ${index}`, START)))
    assert.equal(taken.filter(Boolean).length, 1)
  })

  test('its holder prolongs it, others wait for its end', async () => {
    assert.equal(await take('work', 'a', START), true)
    assert.equal(await take('work', 'b', START + LEASE_MS - 1), false)
    assert.equal(await take('work', 'a', START + LEASE_MS - 1), true)
    assert.equal(await take('work', 'b', START + LEASE_MS), false)
    assert.equal(await take('work', 'b', START + 2 * LEASE_MS - 1), true)
    assert.equal(await take('work', 'a', START + 2 * LEASE_MS), false)
  })

  test('what its holder gives back is free at once; others can not give it back', async () => {
    assert.equal(await take('given', 'a', START), true)
    assert.equal(await db.runDurable(giveBackLease('given', 'b')), false)
    assert.equal(await take('given', 'b', START), false)
    assert.equal(await db.runDurable(giveBackLease('given', 'a')), true)
    assert.equal(await take('given', 'b', START), true)
  })

  test('a lease from before the clock was set back locks nobody out', async () => {
    assert.equal(await take('moved', 'a', START), true)
    assert.equal(await take('moved', 'b', START - 86_400_000), true)
  })

  test('leases of different names know nothing of each other', async () => {
    assert.equal(await take('one', 'a', START), true)
    assert.equal(await take('two', 'b', START), true)
  })

  function take(name: string, holder: string, time: number): Promise<boolean> {
    return db.runDurable(takeLease(name, holder, new Date(time), new Date(time + LEASE_MS)))
  }
})
