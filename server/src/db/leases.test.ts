import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { createLogger } from '../lib/logger.ts'
import { Database } from './database.ts'
import { releaseLease, takeLease } from './leases.ts'

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

  test('if many processes try to take a lease at once, exactly one takes it', async () => {
    const taken = await Promise.all(Array.from({ length: 20 }, (_, index) => take('race', `holder ${index}`, START)))
    assert.equal(taken.filter(Boolean).length, 1)
  })

  test('its holder can extend a lease; others must wait until it expires', async () => {
    assert.equal(await take('work', 'a', START), true)
    assert.equal(await take('work', 'b', START + LEASE_MS - 1), false)
    assert.equal(await take('work', 'a', START + LEASE_MS - 1), true)
    assert.equal(await take('work', 'b', START + LEASE_MS), false)
    assert.equal(await take('work', 'b', START + 2 * LEASE_MS - 1), true)
    assert.equal(await take('work', 'a', START + 2 * LEASE_MS), false)
  })

  test('a lease that its holder releases is free at once; others cannot release it', async () => {
    assert.equal(await take('given', 'a', START), true)
    assert.equal(await db.write(releaseLease('given', 'b')), false)
    assert.equal(await take('given', 'b', START), false)
    assert.equal(await db.write(releaseLease('given', 'a')), true)
    assert.equal(await take('given', 'b', START), true)
  })

  test('a lease that was written before the clock was set back is ignored', async () => {
    assert.equal(await take('moved', 'a', START), true)
    assert.equal(await take('moved', 'b', START - 86_400_000), true)
  })

  test('leases with different names are independent', async () => {
    assert.equal(await take('one', 'a', START), true)
    assert.equal(await take('two', 'b', START), true)
  })

  function take(name: string, holder: string, time: number): Promise<boolean> {
    return db.write(takeLease(name, holder, new Date(time), new Date(time + LEASE_MS)))
  }
})
