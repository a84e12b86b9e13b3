import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openTestContext, type TestContext } from '../../../test/support/context/test-context.ts'
import { readRows } from '../../../test/support/database/read-rows.ts'
import { waitFor } from '../../../test/support/wait-for.ts'
import { takeLease } from '../db/leases.ts'
import type { Context } from '../domain/context.ts'
import { createClock, type MovableClock } from '../lib/clock.ts'
import type { Loop } from '../lib/loop.ts'
import { startLeasedLoop, type RenewLease } from './start-leased-loop.ts'

const INTERVAL_MS = 10
/** Longer than a test takes, so that a lease changes only if a test moves a clock. */
const LEASE_MS = 10 * 60_000
const FRESH_MS = LEASE_MS / 5
/** How many rounds a test waits before it checks that nothing has changed. */
const ROUNDS = 5

/** A loop in a process of its own, with its own clock and database connections. */
interface LoopFixture {
  readonly clock: MovableClock
  rounds: number
  stop(): Promise<void>
}

describe('a loop with a lease', () => {
  let given: TestContext
  let contexts: Readonly<Record<string, Context>>
  const loops: Loop[] = []
  let name: string
  let tests = 0
  before(async () => {
    given = await openTestContext()
    contexts = { a: given.context, b: given.openAnother() }
  })
  beforeEach(() => {
    tests += 1
    name = `test ${tests}`
  })
  afterEach(() => Promise.all(loops.splice(0).map((loop) => loop.stop())))
  after(() => given.close())

  test('the lease is renewed after a fifth of its time, and not in every round', async () => {
    const loop = await startWithLease('a')
    const first = await readLease()
    await moreRounds(loop)
    assert.deepEqual(await readLease(), first)
    loop.clock.setOffset(FRESH_MS - 60_000)
    await moreRounds(loop)
    assert.deepEqual(await readLease(), first)
    loop.clock.setOffset(FRESH_MS)
    await waitFor('the renewal', async () => (await readLease()).expiresMs >= first.expiresMs + FRESH_MS)
    const second = await readLease()
    await moreRounds(loop)
    assert.deepEqual(await readLease(), second)
  })

  test('another process continues at once when the first one stops', async () => {
    const [first, second] = [await startWithLease('a'), start('b')]
    await moreRounds(first)
    assert.equal(second.rounds, 0)
    await first.stop()
    await waitFor('the second runs', () => second.rounds > 0)
  })

  test('another process continues when the lease of a dead process has expired', async () => {
    await given.context.db.write(takeLease(name, 'dead', given.clock.now(), leaseEnd(given.clock)))
    const loop = start('b')
    loop.clock.setOffset(LEASE_MS - 60_000)
    await moreMs()
    assert.equal(loop.rounds, 0)
    loop.clock.setOffset(LEASE_MS)
    await waitFor('it takes the lease', () => loop.rounds > 0)
  })

  test('if all clocks are moved forward, the process that takes the lease first runs alone', async () => {
    const [first, second] = [await startWithLease('a'), start('b')]
    await moreRounds(first)
    second.clock.setOffset(LEASE_MS)
    await waitFor('the second takes the expired lease', () => second.rounds > 0)
    first.clock.setOffset(LEASE_MS)
    await waitUntilIdle(first)
    await moreRounds(second)
    assert.equal((await readLease()).holder, 'b')
  })

  test('if all clocks are moved back, the process that takes the lease first runs alone', async () => {
    const [first, second] = [await startWithLease('a'), start('b')]
    await moreRounds(first)
    second.clock.setOffset(-2 * LEASE_MS)
    await waitFor('the second ignores the lease, which lies too far in the future', () => second.rounds > 0)
    first.clock.setOffset(-2 * LEASE_MS)
    await waitUntilIdle(first)
    await moreRounds(second)
    assert.equal((await readLease()).holder, 'b')
  })

  test('if the clock is moved back, the holder writes its lease again, so that others do not ignore it', async () => {
    const loop = await startWithLease('a')
    const before = await readLease()
    loop.clock.setOffset(-2 * LEASE_MS)
    await waitFor('the lease is written', async () => (await readLease()).expiresMs < before.expiresMs)
  })

  test('within a round, a renewal finds that another process has the lease, and the next round waits for it', async () => {
    const renewals: boolean[] = []
    const loop = start('a', async (renewLease) => {
      await readRows(given.context.db, `update leases set holder = 'b' where name = $1`, [name])
      renewals.push(await renewLease())
    })
    await waitFor('the renewal', () => renewals.length > 0)
    await moreMs()
    assert.deepEqual([renewals, loop.rounds], [[false], 1])
  })

  test('if the database does not confirm a renewal, the next round renews the lease again', async () => {
    const loop = await startWithLease('a')
    await readRows(given.context.db, `alter table leases add constraint fault check (name <> '${name}') not valid`)
    loop.clock.setOffset(FRESH_MS)
    const { expiresMs } = await readLease()
    await waitUntilIdle(loop)
    // The lease in the database is still ours, and is fresh again for this clock.
    loop.clock.setOffset(0)
    await moreMs()
    await waitUntilIdle(loop)
    await readRows(given.context.db, 'alter table leases drop constraint fault')
    await waitFor('the renewal', async () => (await readLease()).expiresMs > expiresMs)
  })

  function start(holder: string, work: (renewLease: RenewLease) => Promise<void> = async () => undefined): LoopFixture {
    const clock = createClock()
    const ctx = { ...(contexts[holder] ?? given.context), clock }
    const options = { name, holder, intervalMs: INTERVAL_MS, leaseMs: LEASE_MS }
    const loop = startLeasedLoop(ctx, options, async (_signal, renewLease) => {
      fixture.rounds += 1
      await work(renewLease)
    })
    const fixture = { clock, rounds: 0, stop: () => loop.stop() }
    loops.push(loop)
    return fixture
  }

  /** Starts a loop and waits until it has the lease. */
  async function startWithLease(holder: string): Promise<LoopFixture> {
    const loop = start(holder)
    await waitFor('the first round', () => loop.rounds > 0)
    return loop
  }

  async function moreRounds(loop: LoopFixture): Promise<void> {
    const until = loop.rounds + ROUNDS
    await waitFor('more rounds', () => loop.rounds >= until)
  }

  /** Waits for longer than a loop with the lease needs for several rounds, also after a failed round. */
  async function moreMs(): Promise<void> {
    await delay(10 * ROUNDS * INTERVAL_MS)
  }

  async function waitUntilIdle(loop: LoopFixture): Promise<void> {
    await waitFor('it begins no more rounds', async () => {
      const { rounds } = loop
      await moreMs()
      return loop.rounds === rounds
    })
  }

  async function readLease(): Promise<{ holder: string; expiresMs: number }> {
    const [row] = await readRows(given.context.db, 'select holder, expires_at from leases where name = $1', [name])
    return { holder: String(row?.['holder']), expiresMs: Number(row?.['expires_at']) }
  }

  function leaseEnd(clock: MovableClock): Date {
    return new Date(clock.now().getTime() + LEASE_MS)
  }
})
