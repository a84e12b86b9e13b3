import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { OPERATOR, type Actor } from '../../server/src/domain/audit/audit-entry.ts'
import type { Workspace } from '../../server/src/domain/workspaces/workspace.ts'
import { announce, announceMany, makeWorkspace, makeEndpoint } from '../support/context/delivery-rows.ts'
import { signUpPerson } from '../support/context/people.ts'
import { readRows } from '../support/database/read-rows.ts'
import { startReceiver, type Receiver } from '../support/wires/receiver.ts'
import { openSenderFixture, type SenderFixture } from '../support/context/sender-fixture.ts'
import { waitFor } from '../support/wait-for.ts'

const ENDPOINTS = 240
const EVENTS = 6
/** At most this many workspaces are created at once. More could wait too long for a database connection. */
const CREATED_AT_ONCE = 8
const STEADY_EVENTS = 10
/** As many as one person may have. */
const WORKSPACES_OF_PERSON = 50
/** A fifth of the places, so that four times as many are free. */
const PLACES_OF_PERSON = 80
const OTHERS = 8
/** Together, the others need more places than 50 workspaces leave free that each take a share. */
const ENDPOINTS_OF_OTHER = 2
const EVENTS_OF_OTHER = 4
/** The time limit of an attempt. It is longer than the test, so attempts that hang keep their places until the end. */
const ENDLESS_MS = 120_000

const HANGING = 'select id from webhook_endpoints where hangs and workspace_id = any ($1) order by id'
const ERRORS = 'select distinct error from delivery_attempts where workspace_id = any ($1)'
const UNDER_WAY = `select endpoint_id, count(*) as count from deliveries
  where leased_until is not null and workspace_id = any ($1) group by endpoint_id order by endpoint_id`

describe('a workspace whose endpoints accept every request and never respond', () => {
  let sending: SenderFixture
  let hanging: Receiver
  before(async () => {
    sending = await openSenderFixture()
  })
  afterEach(async () => {
    await hanging.close()
    await sending.reset()
  })
  after(() => sending.close())

  for (const workspaces of [12, ENDPOINTS]) {
    test(`delays nobody else, with ${ENDPOINTS} such endpoints in ${workspaces} workspaces`, async () => {
      await openStrangers(workspaces)
      const { workspace, receiver } = await openSteady()
      sending.startSender({ attemptMs: ENDLESS_MS })
      await waitFor('each workspace to hold a place', () => hanging.waiting.now >= workspaces)
      await sendOneByOne(workspace, receiver)
      // The steady workspace's receiver now has all its events, although every hanging attempt is still open.
      assert.equal(hanging.waiting.now, hanging.received.length)
    })
  }

  test('has one share with all workspaces of the same person, so eight others have many attempts at once', async () => {
    const person = { kind: 'user', id: (await signUpPerson(sending.ctx)).userId } as const
    await openStrangers(WORKSPACES_OF_PERSON, person)
    sending.startSender({ attemptMs: ENDLESS_MS })
    await waitFor('the person to hold a share', () => hanging.waiting.now >= PLACES_OF_PERSON)
    // No receiver responds before the test ends.
    const others: Receiver[] = []
    for (let other = 0; other < OTHERS; other += 1) {
      const workspace = await makeWorkspace(sending.ctx)
      for (let made = 0; made < ENDPOINTS_OF_OTHER; made += 1) {
        others.push((await sending.subscribe(workspace, { reply: () => undefined })).receiver)
      }
      await announceMany(sending.ctx, workspace, { count: EVENTS_OF_OTHER, from: sending.ctx.clock.now() })
    }
    await waitFor('all attempts of the others at once', () =>
      others.every(({ waiting }) => waiting.now === EVENTS_OF_OTHER),
    )
    assert.deepEqual([hanging.waiting.now, hanging.received.length], [PLACES_OF_PERSON, PLACES_OF_PERSON])
  })

  test('has at most one attempt in progress to each endpoint that hangs, over all senders', async () => {
    const strangers = await openStrangers(12)
    const ids = strangers.map(({ id }) => id)
    const timing = sending.startSender({ attemptMs: 50 })
    await waitFor('all of them to be known', async () => (await hangingEndpoints(ids)).length === ENDPOINTS)
    await timing.stop()
    assert.deepEqual(await readRows(sending.ctx.db, ERRORS, [ids]), [{ error: 'timeout' }])
    assert.equal((await hangingEndpoints(ids)).length, ENDPOINTS)
    const { workspace, receiver } = await openSteady()
    for (const ctx of [sending.ctx, sending.given.openAnother()]) sending.startSender({ ctx, attemptMs: ENDLESS_MS })
    // The attempts are counted in the database, because the receiver may still be reading requests that have already
    // timed out.
    const underWay = async (): Promise<unknown[]> => await readRows(sending.ctx.db, UNDER_WAY, [ids])
    await waitFor('an attempt to each of them', async () => (await underWay()).length === ENDPOINTS)
    await sendOneByOne(workspace, receiver)
    const each = (await hangingEndpoints(ids)).map(({ id }) => ({ endpoint_id: id, count: '1' }))
    assert.deepEqual(await underWay(), each)
    await waitFor('just these to be on the wire', () => hanging.waiting.now === ENDPOINTS)
  })

  async function hangingEndpoints(ids: readonly string[]): Promise<{ id: unknown }[]> {
    return (await readRows(sending.ctx.db, HANGING, [ids])).map((row) => ({ id: row['id'] }))
  }

  async function openStrangers(count: number, creator: Actor = OPERATOR): Promise<Workspace[]> {
    hanging = await startReceiver()
    hanging.hold()
    const { ctx } = sending
    const from = ctx.clock.now()
    const open = async (): Promise<Workspace> => {
      const workspace = await makeWorkspace(ctx, creator)
      for (let made = 0; made < ENDPOINTS / count; made += 1) await makeEndpoint(ctx, workspace, { url: hanging.url })
      await announceMany(ctx, workspace, { count: EVENTS, from })
      return workspace
    }
    const workspaces: Workspace[] = []
    while (workspaces.length < count) {
      const batch = Math.min(CREATED_AT_ONCE, count - workspaces.length)
      workspaces.push(...(await Promise.all(Array.from({ length: batch }, open))))
    }
    return workspaces
  }

  async function openSteady(): Promise<{ workspace: Workspace; receiver: Receiver }> {
    const workspace = await makeWorkspace(sending.ctx)
    const { receiver } = await sending.subscribe(workspace)
    return { workspace, receiver }
  }

  /** Sends events one by one: each one after the previous one has arrived. */
  async function sendOneByOne(workspace: Workspace, receiver: Receiver): Promise<void> {
    for (let sent = 1; sent <= STEADY_EVENTS; sent += 1) {
      await announce(sending.ctx, workspace)
      await receiver.arrived(sent)
    }
    assert.equal(receiver.received.length, STEADY_EVENTS)
  }
})
