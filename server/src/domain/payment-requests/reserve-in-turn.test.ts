import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { paymentRequest, seed, seedGrant, seedWallet, type Seed } from '../../../../test/support/context/seed.ts'
import { openConnections, readAllowance, readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { seedEndpoint } from '../../../../test/support/context/webhook-rows.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { DatabaseUnavailable } from '../../db/errors.ts'
import { microUsdc } from '../../values/money.ts'
import type { Context } from '../context.ts'
import { formatPayment } from '../payments/format-payment.ts'
import { getPayment } from '../payments/get-payment.ts'
import { monthOf } from '../plans/plan.ts'
import { setAllowance } from '../plans/plans-store.ts'
import { listEndpoints } from '../webhooks/queries.ts'
import type { PaymentRequest } from './payment-request.ts'
import type { FundedRequest } from './decide-admission.ts'
import { reservePayments, type BatchedReservation, type Reservation } from './reserve-payments.ts'

const BALANCE = { balanceMicro: microUsdc(20_000_000n), blockNumber: 1n }
const PROPERTY_RUNS = 15
const WALLETS = 3
const CAP = 12
/** With this many waiting payments, a workspace is above `WAITING_OF_WORKSPACE_MAX`. */
const TOO_MANY = 260

/** One request of a random mix. Amounts are whole USDC; some are above the per-payment limit of 10. */
interface Ask {
  readonly wallet: number
  readonly usdc: number
  readonly key: number | null
}

describe('reservations in batches', () => {
  let given: TestContext
  let another: Context
  before(async () => {
    given = await openTestContext()
    another = given.openAnother()
    await openConnections(given.context.db, another.db)
  })
  after(() => given.close())

  test('property: a mix of requests decided together has the outcomes and the sums of the same mix decided one by one', async () => {
    const ask = fc.record({
      wallet: fc.nat(WALLETS - 1),
      usdc: fc.integer({ min: 1, max: 11 }),
      key: fc.option(fc.nat(5), { freq: 3 }),
    })
    const mixes = fc.array(fc.array(ask, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(mixes, async (turns) => {
        const [together, apart] = [await seedWallets(), await seedWallets()]
        for (const turn of turns) {
          const queued = await Promise.all(turn.map((one) => reserve(given.context, fund(together, one))))
          const single: BatchedReservation[] = []
          for (const one of turn) single.push(await reserveAlone(fund(apart, one)))
          assert.deepEqual(queued.map(describeOutcome), single.map(describeOutcome))
        }
        assert.deepEqual(await readSums(together), await readSums(apart))
      }),
      { numRuns: PROPERTY_RUNS },
    )
  })

  test('requests that arrive together are decided in one transaction', async () => {
    const seeds = await Promise.all([seed(given.context), seed(given.context), seed(given.context)])
    const reservations = await Promise.all(seeds.map((each) => reserve(given.context, fundOne(each))))
    assert.deepEqual(
      reservations.map(({ kind }) => kind),
      ['reserved', 'reserved', 'reserved'],
    )
    const rows = await readRows(
      given.context.db,
      `select distinct p.xmin::text as payment, e.xmin::text as event from payments p
        join events e on e.workspace_id = p.workspace_id where p.workspace_id = any ($1)`,
      [seeds.map(({ workspace }) => workspace.id)],
    )
    assert.equal(rows.length, 1)
    assert.equal(rows[0]?.['payment'], rows[0]?.['event'])
  })

  test('what a batch stores is what it returns, with an event and its deliveries, whatever the texts contain', async () => {
    const seeds = [await seed(given.context), await seed(given.context, { mode: 'live' }), await seed(given.context)]
    // Only the first two workspaces have a webhook endpoint.
    for (const each of seeds.slice(0, 2)) await seedEndpoint(given.context, each)
    // Creates the row of the allowance, because a batch does not create it.
    await given.context.db.write(setAllowance(seeds[1]?.workspace.id ?? '', monthOf(given.clock.now()), 7))
    const memos = [`{"a,b"}\\ 'c' NULL`, 'ü €', null]
    const waiting = seeds.map((each, index) => {
      const changes = {
        memo: memos[index] ?? null,
        idempotencyKey: index === 2 ? null : '{"key",}',
        credentialId: 'key_1',
      }
      return { ctx: given.context, funded: fundOne(each, changes) }
    })
    const results = await reservePayments(given.context.db, waiting, { waits: false })
    for (const [index, each] of waiting.entries()) {
      const reservation = results.get(each)
      assert.ok(reservation?.kind === 'reserved', reservation?.kind)
      const { payment } = reservation
      assert.equal(payment.memo, memos[index])
      assert.deepEqual(await getPayment(given.context, payment), payment)
      const text = `select e.data_text, e.data = e.data_text::jsonb as same, e.type, d.endpoint_id, d.status, d.mode
        from events e left join deliveries d on d.workspace_id = e.workspace_id and d.event_id = e.id where e.workspace_id = $1`
      const events = await readRows(given.context.db, text, [payment.workspaceId])
      assert.equal(events.length, 1)
      const [{ data_text: dataText, same, type, endpoint_id: endpointId, status, mode } = {}] = events
      assert.equal(dataText, JSON.stringify({ payment: formatPayment(payment) }))
      assert.deepEqual([same, type], [true, 'payment.created'])
      const [endpoint] = await listEndpoints(given.context, payment)
      const expected = endpoint === undefined ? [null, null, null] : [endpoint.id, 'pending', payment.mode]
      assert.deepEqual([endpointId, status, mode], expected)
    }
    assert.equal(await readAllowance(given.context.db, seeds[1]?.workspace.id ?? ''), 8)
  })

  test('a batch leaves what another transaction has locked to a single decision', async () => {
    const [free, locked, suspended] = [await seed(given.context), await seed(given.context), await seed(given.context)]
    await readRows(given.context.db, 'update grants set suspended_at = now() where workspace_id = $1', [
      suspended.workspace.id,
    ])
    const waiting = [free, locked, suspended].map((each) => ({ ctx: given.context, funded: fundOne(each) }))
    const release = await lockWallets(locked)
    const results = await reservePayments(given.context.db, waiting, { waits: false })
    await release()
    assert.deepEqual(
      waiting.map((each) => results.get(each)?.kind),
      ['reserved', 'apart', 'apart'],
    )
  })

  test('a locked wallet holds up only its own payments, and only one of them holds a connection', async () => {
    const [locked, ...others] = await Promise.all(Array.from({ length: 12 }, () => seed(given.context)))
    assert.ok(locked !== undefined)
    const release = await lockWallets(locked)
    const held = Array.from({ length: 5 }, () => reserve(given.context, fundOne(locked)))
    const paid = await Promise.all(others.map((each) => reserve(given.context, fundOne(each))))
    assert.deepEqual(new Set(paid.map(({ kind }) => kind)), new Set(['reserved']))
    await waitFor('one payment waits for the lock', async () => (await countLockWaiters()) === 1)
    await release()
    // On a machine that is very busy, a payment may have waited too long by now.
    for (const end of await Promise.allSettled(held)) {
      if (end.status === 'fulfilled') assert.equal(end.value.kind, 'reserved')
      else assert.ok(end.reason instanceof DatabaseUnavailable, String(end.reason))
    }
  })

  test('too many waiting requests of a workspace are rejected at once, nothing is recorded for them, and others are served', async () => {
    const [busy, other] = [await seed(given.context, { dailyCap: '1000' }), await seed(given.context)]
    const release = await lockWallets(busy)
    const ends = Array.from({ length: TOO_MANY }, () =>
      reserve(given.context, fundOne(busy)).then(
        ({ kind }) => kind,
        (error: unknown) => error,
      ),
    )
    const last = await ends.at(-1)
    assert.ok(last instanceof DatabaseUnavailable, String(last))
    assert.equal((await reserve(given.context, fundOne(other))).kind, 'reserved')
    await release()
    const reserved = (await Promise.all(ends)).filter((end) => end === 'reserved')
    assert.equal((await readSums([busy])).payments, reserved.length)
  })

  test('if one request makes a batch fail, all others are still decided', async () => {
    await readRows(
      given.context.db,
      `create function reject_poison() returns trigger language plpgsql as
        $$ begin raise exception 'poison'; end $$`,
    )
    await readRows(
      given.context.db,
      `create trigger poison before insert on payments for each row when (new.memo = 'poison')
        execute function reject_poison()`,
    )
    const seeds = await Promise.all([seed(given.context), seed(given.context), seed(given.context)])
    const ends = await Promise.allSettled(
      seeds.map((each, index) => reserve(given.context, fundOne(each, index === 1 ? { memo: 'poison' } : {}))),
    )
    await readRows(given.context.db, 'drop trigger poison on payments')
    assert.deepEqual(
      ends.map((end) => (end.status === 'fulfilled' ? end.value.kind : String(end.reason))),
      ['reserved', 'error: poison', 'reserved'],
    )
  })

  test('two processes reserve from the same wallets: each cap is reached exactly', async () => {
    const seeds = await Promise.all(Array.from({ length: 6 }, () => seed(given.context, { dailyCap: '5' })))
    const contexts = [given.context, another]
    const reservations = await Promise.all(
      seeds.flatMap((each) =>
        Array.from({ length: 16 }, (_, index) =>
          reserve(contexts[index % 2] ?? another, fundOne(each, { idempotencyKey: `key ${index >> 1}` })),
        ),
      ),
    )
    const counts = Object.groupBy(reservations, describeKind)
    assert.equal(counts['reserved']?.length, 6 * 5)
    // Every idempotency key is sent twice, once to each process.
    assert.equal(counts['existing']?.length, 6 * 5)
    assert.equal(counts['daily_cap_exceeded']?.length, 6 * 6)
    for (const each of seeds) assert.deepEqual(await readSums([each]), { payments: 5, amount: 5_000_000, events: 5 })
  })

  test('an allowance over many wallets is reached exactly, by two processes with batches of its payments', async () => {
    const seeded = await seed(given.context, { mode: 'live' })
    const wallets = [seeded]
    while (wallets.length < 8) {
      const wallet = await seedWallet(given.context, seeded)
      await seedGrant(given.context, { ...seeded, wallet })
      wallets.push({ ...seeded, wallet })
    }
    await given.context.db.write(setAllowance(seeded.workspace.id, monthOf(given.clock.now()), 989))
    const contexts = [given.context, another]
    const reservations = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        reserve(contexts[index % 2] ?? another, fundOne(wallets[(index >> 1) % 8] ?? seeded)),
      ),
    )
    const counts = Object.groupBy(reservations, describeKind)
    assert.equal(counts['reserved']?.length, 11)
    assert.equal(counts['plan_cap_exceeded']?.length, 29)
    assert.equal(await readAllowance(given.context.db, seeded.workspace.id), 1_000)
  })

  test('one batch with more live payments than the allowance has left allows exactly what is left', async () => {
    const seeded = await seed(given.context, { mode: 'live' })
    const wallets = [seeded]
    while (wallets.length < 5) {
      const wallet = await seedWallet(given.context, seeded)
      await seedGrant(given.context, { ...seeded, wallet })
      wallets.push({ ...seeded, wallet })
    }
    await given.context.db.write(setAllowance(seeded.workspace.id, monthOf(given.clock.now()), 998))
    const waiting = wallets.map((each) => ({ ctx: given.context, funded: fundOne(each) }))
    const results = await reservePayments(given.context.db, waiting, { waits: false })
    const counts = Object.groupBy(results.values(), describeKind)
    assert.deepEqual([counts['reserved']?.length, counts['plan_cap_exceeded']?.length], [2, 3])
    assert.equal(await readAllowance(given.context.db, seeded.workspace.id), 1_000)
  })

  test('the first live payments of a month make the allowance, although a batch cannot lock it yet', async () => {
    const seeded = await seed(given.context, { mode: 'live' })
    const wallet = await seedWallet(given.context, seeded)
    await seedGrant(given.context, { ...seeded, wallet })
    const both = [seeded, { ...seeded, wallet }]
    await Promise.all(both.map((each) => reserve(given.context, fundOne(each))))
    assert.equal(await readAllowance(given.context.db, seeded.workspace.id), 2)
  })

  /** Decides on one request alone, without the queue. */
  async function reserveAlone(funded: FundedRequest): Promise<BatchedReservation> {
    const waiting = { ctx: given.context, funded }
    const reservations = await reservePayments(given.context.db, [waiting], { waits: true })
    return reservations.get(waiting) ?? assert.fail('no result')
  }

  /** Creates a workspace whose agent may pay from three wallets. */
  async function seedWallets(): Promise<readonly Seed[]> {
    const first = await seed(given.context, { dailyCap: String(CAP) })
    const seeds = [first]
    while (seeds.length < WALLETS) {
      const wallet = await seedWallet(given.context, first)
      await seedGrant(given.context, { ...first, wallet }, { dailyCap: String(CAP) })
      seeds.push({ ...first, wallet })
    }
    return seeds
  }

  async function readSums(seeds: readonly Seed[]): Promise<{ payments: number; amount: number; events: number }> {
    const [row] = await readRows(
      given.context.db,
      `select count(*)::integer as payments, coalesce(sum(amount_micro), 0)::integer as amount,
        (select count(*)::integer from events where workspace_id = $1) as events from payments where workspace_id = $1`,
      [seeds[0]?.workspace.id],
    )
    return { payments: Number(row?.['payments']), amount: Number(row?.['amount']), events: Number(row?.['events']) }
  }

  /** Locks a wallet as another process does, until the returned function is called. */
  async function lockWallets({ wallet }: Seed): Promise<() => Promise<void>> {
    const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const text = 'select 1 from wallets where address = $1 for no key update'
    const over = another.db.transaction(async (transaction) => {
      await transaction.run({ name: '', text, values: [wallet], read: () => null })
      locked.resolve()
      await released.promise
    })
    await Promise.race([locked.promise, over])
    return async () => {
      released.resolve()
      await over
    }
  }

  async function countLockWaiters(): Promise<number> {
    const text = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    return (await readRows(another.db, text)).length
  }
})

function reserve(ctx: Context, funded: FundedRequest): Promise<Reservation> {
  return ctx.reservations.add(ctx, funded)
}

function fundOne(seeded: Seed, changes: Partial<PaymentRequest> = {}): FundedRequest {
  return { request: paymentRequest(seeded, changes), balance: BALANCE, gas: null }
}

function fund(seeds: readonly Seed[], { wallet, usdc, key }: Ask): FundedRequest {
  const seeded = seeds[wallet] ?? assert.fail('no wallet')
  return fundOne(seeded, { amountUsdc: String(usdc), idempotencyKey: key === null ? null : `key ${key}` })
}

/** Describes an outcome by everything that is equal for two workspaces with the same payments. */
function describeOutcome(reservation: BatchedReservation): unknown {
  if (reservation.kind === 'refused') {
    const { refusal, excessMicro } = reservation
    return { ...refusal, excessMicro }
  }
  if (!('payment' in reservation)) return reservation.kind
  const { kind, payment } = reservation
  return { kind, amount: payment.amountUsdc, key: payment.idempotencyKey, attempt: payment.attempt }
}

function describeKind(reservation: BatchedReservation): string {
  return reservation.kind === 'refused' ? reservation.refusal.code : reservation.kind
}
