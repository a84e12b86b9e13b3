import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import {
  announce,
  announceMany,
  claim,
  clearQueues,
  makeWorkspace,
  makeEndpoint,
  outcomeOf,
} from '../../../../test/support/context/delivery-rows.ts'
import { later } from '../../../../test/support/context/moved-clock.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { signUpPerson } from '../../../../test/support/context/people.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import type { Context } from '../context.ts'
import type { AttemptOutcome, ClaimedDelivery } from './delivery.ts'
import { RETRY_DELAYS_MS } from './retry-schedule.ts'
import { HANGING_MS } from './endpoint.ts'
import { finishAttempts } from './finish-attempts.ts'

const MINUTE_MS = 60_000

describe('how workspaces share a sender', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  beforeEach(() => clearQueues(ctx))
  after(() => given.close())

  /** Creates a workspace with endpoints, and with events that are sent to each of them. */
  async function workspace(
    { endpoints, events }: { endpoints: number; events: number },
    actor?: Actor,
  ): Promise<Workspace> {
    const workspace = await makeWorkspace(ctx, actor)
    for (let made = 0; made < endpoints; made += 1) await makeEndpoint(ctx, workspace)
    await announceMany(ctx, workspace, { count: events, from: new Date(ctx.clock.now().getTime() - MINUTE_MS) })
    return workspace
  }

  test('the next delivery is chosen by workspace first: many endpoints of one workspace do not delay the only endpoint of another', async () => {
    const stranger = await workspace({ endpoints: 8, events: 5 })
    const quiet = await makeWorkspace(ctx)
    await makeEndpoint(ctx, quiet)
    await announce(ctx, quiet)
    assert.deepEqual(countByWorkspace(await claim(ctx, { limit: 2 })), { [stranger.id]: 1, [quiet.id]: 1 })
  })

  test('workspaces with the fewest deliveries in flight come first', async () => {
    const [first, second] = [
      await workspace({ endpoints: 3, events: 5 }),
      await workspace({ endpoints: 3, events: 5 }),
    ] as const
    const places = { free: 1_000, held: new Map([[first.id, 3]]) }
    assert.deepEqual(countByWorkspace(await claim(ctx, { limit: 5, places })), { [first.id]: 1, [second.id]: 4 })
  })

  test('a workspace takes no more than its share of the free places, and leaves the rest for others', async () => {
    const greedy = await workspace({ endpoints: 10, events: 10 })
    // After three deliveries, 17 of the 20 places are free. A fourth delivery requires 16 free places. After the fourth
    // delivery, 16 places are free, but a fifth delivery would require 20.
    assert.equal((await claim(ctx, { places: { free: 20, held: new Map() } })).length, 4)
    assert.equal((await claim(ctx, { places: { free: 16, held: new Map([[greedy.id, 4]]) } })).length, 0)
    const quiet = await workspace({ endpoints: 1, events: 1 })
    const claimed = await claim(ctx, { places: { free: 16, held: new Map([[greedy.id, 4]]) } })
    assert.deepEqual(countByWorkspace(claimed), { [quiet.id]: 1 })
  })

  test('a workspace that uses no place gets the last free place', async () => {
    const greedy = await workspace({ endpoints: 2, events: 10 })
    const quiet = await workspace({ endpoints: 1, events: 5 })
    const places = { free: 1, held: new Map([[greedy.id, 7]]) }
    assert.deepEqual(countByWorkspace(await claim(ctx, { limit: 1, places })), { [quiet.id]: 1 })
  })

  test('the workspaces that one person created have one share together, and take turns', async () => {
    const person = { kind: 'user', id: (await signUpPerson(ctx)).userId } as const
    const large = await workspace({ endpoints: 10, events: 10 }, person)
    const small = await workspace({ endpoints: 1, events: 3 }, person)
    const claimed = await claim(ctx, { places: { free: 20, held: new Map() } })
    assert.deepEqual(countByWorkspace(claimed), { [large.id]: 2, [small.id]: 2 })
    assert.deepEqual(new Set(claimed.map(({ holder }) => holder)), new Set([person.id]))
    const places = {
      free: 16,
      held: new Map([
        [person.id, 4],
        [large.id, 4],
      ]),
    }
    const quiet = await workspace({ endpoints: 1, events: 1 })
    assert.deepEqual(countByWorkspace(await claim(ctx, { places })), { [quiet.id]: 1 })
    const freer = { ...places, free: 20 }
    assert.deepEqual(countByWorkspace(await claim(ctx, { places: freer })), { [small.id]: 1 })
  })

  for (const [what, ended] of [
    ['ran out of time', { error: 'timeout', statusCode: null }],
    ['took long, whatever the response was', { durationMs: HANGING_MS }],
  ] as const) {
    test(`an endpoint whose last attempt ${what} uses the places for hanging endpoints, until it responds promptly`, async () => {
      await workspace({ endpoints: 1, events: 10 })
      const [first, ...others] = await claim(ctx)
      await finish(first, ended)
      for (const one of others) await finish(one, ended)
      assert.equal((await claim(ctx)).length, 0)
      const [one, ...more] = await claim(ctx, { hangs: true, inFlightMax: 1 })
      assert.equal(more.length, 0)
      assert.equal((await claim(ctx, { hangs: true, inFlightMax: 1 })).length, 0)
      await finish(one, {})
      assert.equal((await claim(ctx, { hangs: true, inFlightMax: 1 })).length, 0)
      assert.equal((await claim(ctx)).length, 4)
    })
  }

  test('an endpoint that fails promptly does not hang', async () => {
    await workspace({ endpoints: 1, events: 10 })
    for (const one of await claim(ctx)) await finish(one, { statusCode: 500, durationMs: HANGING_MS - 1 })
    assert.equal((await claim(later(ctx, RETRY_DELAYS_MS[0]))).length, 4)
  })

  async function finish(claimed: ClaimedDelivery | undefined, changes: Partial<AttemptOutcome>): Promise<void> {
    assert.ok(claimed !== undefined)
    await finishAttempts(ctx, [{ claimed, outcome: outcomeOf(ctx, changes) }])
  }
})

function countByWorkspace(claimed: readonly ClaimedDelivery[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { delivery } of claimed) counts[delivery.workspaceId] = (counts[delivery.workspaceId] ?? 0) + 1
  return counts
}
