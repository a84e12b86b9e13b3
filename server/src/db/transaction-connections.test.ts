import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createFreshDatabase, type FreshDatabase } from '../../../test/support/database/fresh-database.ts'
import { createLogger } from '../lib/logger.ts'
import { Database } from './database.ts'
import { DatabaseUnavailable } from './errors.ts'
import type { Query } from './query.ts'
import type { Precedence } from './transaction-connections.ts'

const CONNECTIONS = 3
const OUTCOME_CONNECTIONS = 2
const WAITING_MAX = 1_000

describe('the connections of transactions', () => {
  let fresh: FreshDatabase
  let db: Database
  before(async () => {
    fresh = await createFreshDatabase({ empty: true })
    db = new Database({ url: fresh.url, connectionsMax: CONNECTIONS }, createLogger('silent'))
  })
  after(async () => {
    await db.close()
    await fresh.drop()
  })

  test('an outcome never waits for transactions that hold or want connections', async () => {
    const held = await Promise.all(repeat(CONNECTIONS, () => hold()))
    const order: string[] = []
    const waiting = repeat(20, () => db.transaction(async (transaction) => transaction.run(ONE)).then(noteAs('waited')))
    await db.write(ONE, { isOutcome: true }).then(noteAs('outcome'))
    await db
      .transaction(async (transaction) => transaction.commit([ONE]), { isOutcome: true })
      .then(noteAs('outcome of two statements'))
    assert.deepEqual(order, ['outcome', 'outcome of two statements'])
    for (const release of held) await release()
    await Promise.all(waiting)

    function noteAs(what: string) {
      return () => void order.push(what)
    }
  })

  test('while an outcome waits, no transaction gets a connection', async () => {
    const held = await Promise.all([
      ...repeat(CONNECTIONS, () => hold()),
      ...repeat(OUTCOME_CONNECTIONS, () => hold({ isOutcome: true })),
    ])
    const order: string[] = []
    const run = (what: string, precedence: Precedence) =>
      db.transaction(async (transaction) => {
        order.push(what)
        await transaction.run(ONE)
      }, precedence)
    const begun = [run('new', {}), run('outcome', { isOutcome: true })]
    for (const release of held) await release()
    await Promise.all(begun)
    assert.deepEqual(order, ['outcome', 'new'])
  })

  test('groups take turns, so a group with many waiting transactions does not delay another one', async () => {
    const held = await Promise.all(repeat(CONNECTIONS, () => hold()))
    const order: string[] = []
    const run = (group: string) => db.transaction(async () => void order.push(group), { group })
    const begun = [...repeat(10, () => run('many')), run('few')]
    const statement = db.write(ONE).then(() => order.push('statement'))
    // With a single free connection, the transactions and the statement run one after the other.
    await held.pop()?.()
    await Promise.all([...begun, statement])
    for (const release of held) await release()
    assert.equal(order.indexOf('few'), 1, order.join())
    assert.ok(order.indexOf('statement') <= 3, order.join())
  })

  test('too many waiting transactions are turned away at once, and the others still run', async () => {
    const held = await Promise.all(repeat(CONNECTIONS, () => hold()))
    let ran = 0
    const waiting = repeat(WAITING_MAX, () =>
      db.transaction(async () => {
        ran += 1
      }),
    )
    await assert.rejects(
      db.transaction(async () => assert.fail('it ran')),
      DatabaseUnavailable,
    )
    assert.equal(ran, 0)
    await db.write(ONE, { isOutcome: true })
    for (const release of held) await release()
    await Promise.all(waiting)
    assert.equal(ran, WAITING_MAX)
  })

  test('after failures of every kind, all connections are free again', async () => {
    const failing: Query<null> = { name: '', text: 'select 1 / 0', values: [], read: () => null }
    const lost: Query<null> = { ...failing, text: 'select pg_terminate_backend(pg_backend_pid())' }
    await Promise.allSettled([
      ...repeat(20, () => db.write(failing)),
      ...repeat(20, () => db.write(lost, { isOutcome: true })),
      ...repeat(20, () => db.transaction(async (transaction) => transaction.run(failing))),
      ...repeat(20, () => db.transaction(async (transaction) => transaction.run(lost))),
    ])
    const held = await Promise.all([
      ...repeat(CONNECTIONS, () => hold()),
      ...repeat(OUTCOME_CONNECTIONS, () => hold({ isOutcome: true })),
    ])
    for (const release of held) await release()
  })

  /** Begins a transaction that keeps its connection until the returned function is called. */
  async function hold(precedence: Precedence = {}): Promise<() => Promise<void>> {
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const over = db.transaction(async (transaction) => {
      await transaction.run(ONE)
      begun.resolve()
      await released.promise
    }, precedence)
    await Promise.race([begun.promise, over])
    return async () => {
      released.resolve()
      await over
    }
  }
})

const ONE: Query<null> = { name: 'one', text: 'select 1', values: [], read: () => null }

function repeat<Item>(count: number, make: () => Item): Item[] {
  return Array.from({ length: count }, make)
}
