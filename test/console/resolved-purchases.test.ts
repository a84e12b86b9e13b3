import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { ListedPayment, PaymentDetail } from '../../server/src/console/contract/payments.ts'
import { readAudit } from '../support/context/audit.ts'
import { seedPurchase } from '../support/context/purchase-rows.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { openConsoleFixture, type ConsoleFixture } from './console-fixture.ts'

const CONFLICT = { type: 'conflict' } as const
const UNKNOWN = { type: 'not_found' } as const

describe('a purchase that was paid and not delivered', () => {
  let server: ConsoleServer
  let seeded: Seed
  let owner: ConsoleFixture
  before(async () => {
    server = await openConsoleServer()
  })
  beforeEach(async () => {
    seeded = await seed(server.context)
    owner = await openConsoleFixture(server, { workspace: seeded.workspace, name: 'Olga' })
  })
  after(() => server.close())

  test('leaves the list of such purchases when a member marks it as resolved, once, with a note', async () => {
    const { id } = await seedPurchase(server.context, seeded, { delivery: 'failed' }, { status: 'confirmed' })
    assert.deepEqual(await listOpen(), [id])
    assert.equal(await needsAttention(), true)
    await resolve(id, '  Paid back  ')
    await resolve(id, 'Again')
    assert.deepEqual(await listOpen(), [])
    const { resolution } = await get(id)
    assert.deepEqual([resolution?.by, resolution?.note], ['Olga', 'Paid back'])
    const { payments } = await owner.browser.ask<{ payments: ListedPayment[] }>('GET', owner.at('payments?mode=test'))
    assert.deepEqual(
      payments.map(({ purchase }) => purchase?.is_resolved),
      [true],
    )
    const entry = { actor_kind: 'user', actor_id: owner.userId, action: 'purchase.resolved', subject: id }
    const log = await readAudit(server.context.db, seeded.workspace.id)
    assert.deepEqual(
      log.filter(({ action }) => action === entry.action),
      [{ ...entry, details: { mode: 'test', note: 'Paid back' } }],
    )
    assert.equal(await needsAttention(), false)
  })

  test('cannot be resolved if it was delivered or not paid, if it is unknown, or without a note', async () => {
    const delivered = await seedPurchase(server.context, seeded, {}, { status: 'confirmed' })
    const unpaid = await seedPurchase(server.context, seeded, { delivery: 'failed' }, { status: 'failed' })
    const lost = await seedPurchase(server.context, seeded, { delivery: 'failed' }, { status: 'confirmed' })
    for (const { id } of [delivered, unpaid]) await refuse(owner, id, CONFLICT)
    const stranger = await openConsoleFixture(server)
    await refuse(stranger, lost.id, UNKNOWN)
    await refuse(owner, lost.id, UNKNOWN, { mode: 'live', note: 'x' })
    for (const id of ['x', 'pay_0']) await refuse(owner, id, UNKNOWN)
    for (const note of ['', '  ', 'x'.repeat(201)]) {
      await refuse(owner, lost.id, { type: 'validation_failed' }, { mode: 'test', note })
    }
    assert.equal((await get(lost.id)).resolution, null)
  })

  /** Whether the overview says that purchases were paid and not delivered. */
  async function needsAttention(): Promise<boolean> {
    const { overview } = await owner.browser.ask<{ overview: { conditions: { name: string }[] } }>(
      'GET',
      owner.at('overview?mode=test'),
    )
    return overview.conditions.some(({ name }) => name === 'purchase_undelivered')
  }

  const pathOf = (fixture: ConsoleFixture, id: string) => fixture.at(`payments/${id}/resolve`)

  async function resolve(id: string, note: string): Promise<void> {
    await owner.browser.ask('POST', pathOf(owner, id), { mode: 'test', note })
  }

  async function refuse(
    fixture: ConsoleFixture,
    id: string,
    expected: Parameters<ConsoleFixture['browser']['refuse']>[2],
    body: object = { mode: 'test', note: 'x' },
  ): Promise<void> {
    await fixture.browser.refuse('POST', pathOf(fixture, id), expected, body)
  }

  async function get(id: string): Promise<PaymentDetail> {
    return await owner.browser.ask<PaymentDetail>('GET', owner.at(`payments/${id}?mode=test`))
  }

  async function listOpen(): Promise<string[]> {
    const path = owner.at('payments?mode=test&kind=undelivered')
    return (await owner.browser.ask<{ payments: ListedPayment[] }>('GET', path)).payments.map(({ id }) => id)
  }
})
