import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { runAfterRestore } from '../../server/src/after-restore/run-after-restore.ts'
import { migrate } from '../../server/src/db/migrate.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { endAllConnections } from '../../server/src/domain/connections/end-all-connections.ts'
import type { Context } from '../../server/src/domain/context.ts'
import { revokeKey } from '../../server/src/domain/keys/revoke-key.ts'
import { endAllInvitations } from '../../server/src/domain/members/end-all-invitations.ts'
import { createPayment } from '../../server/src/domain/payment-requests/create-payment.ts'
import { endAllSessions } from '../../server/src/domain/sessions/end-all-sessions.ts'
import { compareLedger } from '../../server/src/domain/unexplained-transfers/compare-ledger.ts'
import { sendWebhooks } from '../../server/src/jobs/send-webhooks.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { makeEndpoint } from '../support/context/delivery-rows.ts'
import { expectPayment } from '../support/context/expect-outcome.ts'
import { paymentRequest, RECIPIENT, seed, type Seed } from '../support/context/seed.ts'
import { readRows } from '../support/database/read-rows.ts'
import { openArchivedDatabase, type ArchivedDatabase } from '../support/restore/archived-database.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { waitFor } from '../support/wait-for.ts'
import { startReceiver, type Receiver } from '../support/wires/receiver.ts'
import { openConsoleFixture } from './console-fixture.ts'
import { listWhere, makeInvitations, makeKeys, makeTokens, type Credential } from './credentials.ts'

const MOMENT = 'before_the_loss'
/** The amount of each payment, by its idempotency key. */
const AMOUNTS = { kept: '1', waiting: '2', lost: '3' } as const

/**
 * The database is restored from a base backup and the archived log, as it was at a moment. What happened between the
 * backup and the moment is there, and what happened later is lost.
 */
describe('a database that is restored to a point in time', () => {
  let database: ArchivedDatabase
  let server: ConsoleServer
  let receiver: Receiver
  let seeded: Seed
  before(async () => {
    database = await openArchivedDatabase()
    await migrate(database.url, createClock())
    const { url } = database
    server = await openConsoleServer((config) => ({
      ...{ ...config, webhooksToLoopback: true },
      database: { ...config.database, url },
    }))
    receiver = await startReceiver()
    for (const mode of ['test', 'live'] as const) {
      server.chains[mode].startSeconds = BigInt(Math.floor(server.clock.now().getTime() / 1_000)) - 1_000n
      await compareLedger(server.context, { mode })
    }
    seeded = await seed(server.context)
    await makeEndpoint(server.context, seeded.workspace, { url: receiver.url, events: ['payment.created'] })
  })
  after(async () => {
    await server.close()
    await receiver.close()
    await database.close()
  })

  test('pays nothing twice, sends no delivered webhook again, and after the command no ended credential works', async () => {
    const ctx = server.context
    await database.backUp()

    const kept = await pay(ctx, 'kept')
    await sendAll(ctx)
    const waiting = await pay(ctx, 'waiting')
    const owner = await openConsoleFixture(server, { workspace: seeded.workspace })
    const maker = { server, member: owner, agentId: seeded.agentId }
    const made = (await Promise.all([makeKeys(maker), makeTokens(maker), makeInvitations(maker)])).flat()
    assert.deepEqual(await listWhere(false, made, [ctx]), [])
    await database.markMoment(MOMENT)

    const lost = await pay(ctx, 'lost')
    await sendAll(ctx)
    await endAll(ctx, made)
    const sent = listReceived()
    assert.deepEqual(sent.payments.toSorted(), [kept.id, waiting.id, lost.id].toSorted())
    const transfers = given().accepted.size

    await database.restore(MOMENT)
    const restored = server.openAnother()
    assert.deepEqual(await listPayments(restored), [kept.id, waiting.id].toSorted())
    // The moment is before they were ended, so they work again until the command has run.
    assert.deepEqual(await listWhere(false, made, [restored]), [])
    await runAfterRestore(restored, { since: null, confirmed: true, newLog: false, print: () => undefined })
    assert.deepEqual(await listWhere(true, made, [restored]), [])
    const [sessions] = await readRows(restored.db, 'select count(*)::int as count from sessions')
    assert.equal(sessions?.['count'], 0)

    const repeated = (['kept', 'waiting', 'lost'] as const).map((key) => pay(restored, key, 'replayed'))
    const [again, andAgain, found] = await Promise.all(repeated)
    assert.deepEqual([again?.id, andAgain?.id, found?.txHash], [kept.id, waiting.id, lost.txHash])
    assert.equal(given().accepted.size, transfers)

    await sendAll(restored)
    const { payments, events } = listReceived()
    // The delivery that was due at the moment comes again, as the same event. The payment that was lost and found has
    // another id, so it is another event.
    assert.deepEqual(payments.slice(3).toSorted(), [waiting.id, String(found?.id)].toSorted())
    assert.deepEqual(
      events.slice(3).filter((id) => sent.events.includes(id)),
      [sent.events[sent.payments.indexOf(waiting.id)]],
    )
  })

  function given() {
    return server.enclave
  }

  /** Makes a payment, whose transfer lands in the next block. */
  async function pay(ctx: Context, key: keyof typeof AMOUNTS, kind: 'created' | 'replayed' = 'created') {
    const payment = expectPayment(
      await createPayment(ctx, paymentRequest(seeded, { idempotencyKey: key, amountUsdc: AMOUNTS[key] })),
      kind,
    )
    const chain = server.chains.test
    if (kind === 'created') {
      chain.head += 1n
      chain.receipts.set(payment.txHash ?? '', {
        ...{ contract: ctx.chains.test.usdc, from: seeded.wallet, to: RECIPIENT },
        ...{ amountMicro: payment.amountMicro, blockNumber: chain.head },
      })
    }
    return payment
  }

  /** Sends every delivery that is due, and waits until the outcomes are stored. */
  async function sendAll(ctx: Context): Promise<void> {
    const sender = sendWebhooks(ctx)
    await waitFor('every delivery is sent', async () => {
      const rows = await readRows(ctx.db, "select id from deliveries where status <> 'succeeded'")
      return rows.length === 0
    })
    await sender.stop()
  }

  function listReceived(): { payments: string[]; events: string[] } {
    const bodies = receiver.received.map(({ body }) => JSON.parse(body.toString('utf8')))
    return { payments: bodies.map(({ data }) => String(data.payment.id)), events: bodies.map(({ id }) => String(id)) }
  }

  async function listPayments({ db }: Context): Promise<string[]> {
    return (await readRows(db, 'select id from payments order by id')).map(({ id }) => String(id))
  }

  /** Ends the credentials, as their owners do. */
  async function endAll(ctx: Context, made: readonly Credential[]): Promise<void> {
    const actor = OPERATOR
    for (const { id } of await readRows(ctx.db, 'select id from api_keys')) {
      await revokeKey(ctx, { workspaceId: seeded.workspace.id, id: String(id), actor })
    }
    await endAllSessions(ctx, { actor })
    await endAllInvitations(ctx, { actor })
    await endAllConnections(ctx, { actor })
    assert.deepEqual(await listWhere(true, made, [ctx]), [])
  }
})
