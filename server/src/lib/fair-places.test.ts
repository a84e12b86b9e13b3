import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import fc from 'fast-check'
import { anyFree, FairPlaces, type Ticket } from './fair-places.ts'

/** Every test is shorter than this, so no ticket waits too long. */
const WAIT_MS_MAX = 60_000

interface Entered extends Ticket {
  readonly group: string
}

/** All tickets of the current test. A ticket that waits keeps a timer running. */
const tickets: Ticket[] = []

/** Opens places. `started` lists the groups in the order in which their waits ended. */
function open({ placesMax, waitingMax }: { placesMax: number; waitingMax: number }) {
  const places = new FairPlaces({ placesMax, waitingMax, waitMsMax: WAIT_MS_MAX })
  const started: string[] = []
  const enter = (group: string | null): Ticket => {
    const ticket = places.enter(group, (hasPlace) => started.push(hasPlace ? String(group) : 'too late'))
    tickets.push(ticket)
    return ticket
  }
  const enterMany = (group: string | null, count: number): Ticket[] => Array.from({ length: count }, () => enter(group))
  return { places, started, enter, enterMany }
}

function countStates(counted: readonly Ticket[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { state } of counted) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

describe('places that groups share', () => {
  afterEach(() => {
    for (const ticket of tickets.splice(0)) ticket.leave()
  })

  test('a group alone gets half of the places and half of the queue; the next group still finds both', () => {
    const { enterMany, places } = open({ placesMax: 8, waitingMax: 4 })
    assert.deepEqual(countStates(enterMany('first', 10)), { placed: 4, waiting: 2, rejected: 4 })
    assert.deepEqual(countStates(enterMany('second', 10)), { placed: 2, waiting: 1, rejected: 7 })
    assert.deepEqual(countStates(enterMany('third', 10)), { placed: 1, waiting: 1, rejected: 8 })
    assert.deepEqual([places.taken, places.waiting], [7, 4])
  })

  test('groups that wait take turns, and a group keeps its own order', () => {
    const { enterMany, started, enter } = open({ placesMax: 2, waitingMax: 100 })
    const [busy] = enterMany('busy', 20)
    const other = enter('other')
    assert.equal(other.state, 'placed')
    const late = enterMany('other', 3)
    busy?.leave()
    other.leave()
    assert.deepEqual(started, ['busy', 'other'])
    assert.deepEqual(
      late.map(({ state }) => state),
      ['placed', 'waiting', 'waiting'],
    )
  })

  test('a ticket that leaves while it waits never gets a place, and leaving twice does nothing', () => {
    const { enter, started, places } = open({ placesMax: 1, waitingMax: 10 })
    const held = enter('a')
    const [gone, next] = [enter('b'), enter('c')]
    gone.leave()
    gone.leave()
    held.leave()
    held.leave()
    assert.deepEqual(started, ['c'])
    assert.equal(next.state, 'placed')
    next.leave()
    assert.deepEqual([places.taken, places.waiting], [0, 0])
  })

  test('without a group, every free place may be taken', () => {
    const { enterMany } = open({ placesMax: 3, waitingMax: 5 })
    assert.deepEqual(countStates(enterMany(null, 10)), { placed: 3, waiting: 5, rejected: 2 })
  })

  test('a wait ends after its time, without a place', async () => {
    const places = new FairPlaces({ placesMax: 1, waitingMax: 1, waitMsMax: 1 })
    places.enter('a', () => undefined)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const late = places.enter('b', resolve)
    assert.equal(await promise, false)
    assert.deepEqual([late.state, places.waiting], ['rejected', 0])
    late.leave()
    assert.equal(places.taken, 1)
  })

  test('if any free place may be taken, a group alone gets all, and groups that wait take turns', () => {
    const places = new FairPlaces({ placesMax: 3, waitingMax: 3, waitMsMax: WAIT_MS_MAX, share: anyFree })
    const started: string[] = []
    const entered = ['a', 'a', 'a', 'a', 'a', 'b', 'b'].map((group) => places.enter(group, () => started.push(group)))
    tickets.push(...entered)
    assert.deepEqual(countStates(entered), { placed: 3, waiting: 3, rejected: 1 })
    for (const ticket of entered.slice(0, 3)) ticket.leave()
    assert.deepEqual(started, ['a', 'b', 'a'])
  })

  test('urgent work has places of its own, and goes first on all others', () => {
    const urgent = { placesMax: 1, waitingMax: 2, waitMsMax: WAIT_MS_MAX }
    const places = new FairPlaces({ placesMax: 1, waitingMax: 2, waitMsMax: WAIT_MS_MAX, urgent })
    const started: string[] = []
    const enter = (what: string, isUrgent: boolean): Ticket => {
      const ticket = places.enter(null, () => started.push(what), { isUrgent })
      tickets.push(ticket)
      return ticket
    }
    const [plain, late, first] = [enter('plain', false), enter('late', false), enter('first', true)]
    assert.deepEqual([plain.state, late.state, first.state], ['placed', 'waiting', 'placed'])
    const [second, third] = [enter('second', true), enter('third', true)]
    assert.equal(enter('too many', true).state, 'rejected')
    plain.leave()
    first.leave()
    assert.deepEqual(started, ['second', 'third'])
    second.leave()
    assert.deepEqual(started, ['second', 'third', 'late'])
    third.leave()
    late.leave()
    assert.deepEqual([places.taken, places.waiting], [0, 0])
  })

  test('if the urgent work that waits gives up, the other work gets the free place', () => {
    const urgent = { placesMax: 0, waitingMax: 1, waitMsMax: WAIT_MS_MAX }
    const places = new FairPlaces({ placesMax: 2, waitingMax: 2, waitMsMax: WAIT_MS_MAX, share: anyFree, urgent })
    const [held, other] = [places.enter('a', () => undefined), places.enter('a', () => undefined)]
    const impatient = places.enter('a', () => undefined, { isUrgent: true })
    const waiting = places.enter('b', () => undefined)
    tickets.push(held, other, impatient, waiting)
    assert.deepEqual([impatient.state, waiting.state], ['waiting', 'waiting'])
    impatient.leave()
    assert.equal(waiting.state, 'waiting')
    held.leave()
    assert.equal(waiting.state, 'placed')
  })

  test('whatever happens, the limits hold, a group without a place gets any free one, and all places come back', () => {
    const moves = fc.array(fc.oneof(fc.nat(4), fc.constant('leave' as const)), { maxLength: 300 })
    fc.assert(
      fc.property(moves, fc.integer({ min: 1, max: 12 }), fc.nat(12), (steps, placesMax, waitingMax) => {
        const { places, enter } = open({ placesMax, waitingMax })
        const entered: Entered[] = []
        for (const step of steps) {
          if (step === 'leave') entered.splice(steps.length % Math.max(entered.length, 1), 1)[0]?.leave()
          else {
            const group = `group ${step}`
            const isNew = entered.every((ticket) => ticket.group !== group || ticket.state === 'rejected')
            const hadFree = places.taken < placesMax
            const ticket = enter(group)
            if (isNew && hadFree) assert.equal(ticket.state, 'placed')
            entered.push(Object.assign(Object.create(ticket) as Ticket, { group }))
          }
          assert.ok(places.taken <= placesMax && places.waiting <= waitingMax)
          const states = countStates(entered)
          assert.deepEqual([states['placed'] ?? 0, states['waiting'] ?? 0], [places.taken, places.waiting])
        }
        for (const ticket of entered) ticket.leave()
        assert.deepEqual([places.taken, places.waiting], [0, 0])
      }),
    )
  })
})
