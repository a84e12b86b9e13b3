import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { readRows } from '../../../test/support/database/read-rows.ts'
import { createClock } from '../lib/clock.ts'
import { createLogger } from '../lib/logger.ts'
import { createSealer } from '../lib/sealing.ts'
import { Database } from './database.ts'
import { ServerKey } from './server-key.ts'

const PROCESSES = 10

describe('a key of the service', () => {
  const sealer = createSealer([{ id: null, key: randomBytes(32) }])
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

  test('is the same for all processes, although several need it first at the same time', async () => {
    const keys = await Promise.all(Array.from({ length: PROCESSES }, () => open('race').read()))
    const [key, ...others] = keys
    assert.equal(key?.length, 32)
    for (const other of others) assert.deepEqual(other, key)
    assert.notDeepEqual(await open('another').read(), key)
  })

  test('is stored encrypted, and is read once by a process', async () => {
    const kept = open('kept')
    const key = await kept.read()
    const [row] = await readRows(db, "select key_sealed from server_keys where name = 'kept'")
    const stored = row?.['key_sealed'] as Buffer
    for (const text of [key, key.toString('base64')]) assert.equal(stored.includes(text), false)
    await readRows(db, "delete from server_keys where name = 'kept'")
    assert.equal(await kept.read(), key)
  })

  test('cannot be read with another encryption key; after an error, it is read again', async () => {
    await open('sealed').read()
    let current = createSealer([{ id: null, key: randomBytes(32) }])
    const swapped = {
      mark: sealer.mark,
      seal: (...args: Parameters<typeof sealer.seal>) => sealer.seal(...args),
      open: (...args: Parameters<typeof sealer.open>) => current.open(...args),
    }
    const key = new ServerKey({ db, sealer: swapped, clock: createClock() }, 'sealed')
    await assert.rejects(key.read())
    current = sealer
    assert.deepEqual(await key.read(), await open('sealed').read())
  })

  function open(name: string): ServerKey {
    return new ServerKey({ db, sealer, clock: createClock() }, name)
  }
})
