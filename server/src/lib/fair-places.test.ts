import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { waitFor } from '../../../test/support/wait-for.ts'
import { anyFree, FairPlaces, type HeldPlace, type Ticket } from './fair-places.ts'

/** Every test is shorter than this, so no ticket waits too long. */
const WAIT_MS_MAX = 60_000

interface Entered extends Ticket {
  readonly group: string
}

/** All tickets of the current test. A ticket that waits keeps a timer running. */
const tickets: Ticket[] = []

/** Opens places. `started` lists the groups in the order in which their waits ended. */
function open({ placesMax, waitingMax }: { placesMax: number; waitingMax: number }, work?: 'may end') {
  const places = new FairPlaces({ placesMax, waitingMax, waitMsMax: WAIT_MS_MAX })
  const started: string[] = []
  const ended: string[] = []
  const enter = (group: string | null): Ticket => {
    const ticket = places.enter(
      group,
      (hasPlace) => started.push(hasPlace ? String(group) : 'too late'),
      work === 'may end' ? { end: () => ended.push(String(group)) } : {},
    )
    tickets.push(ticket)
    return ticket
  }
  const enterMany = (group: string | null, count: number): Ticket[] => Array.from({ length: count }, () => enter(group))
  return { places, started, ended, enter, enterMany }
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

  test('a group alone gets half of the places and of the queue; every other one finds its own share of both', () => {
    const { enterMany, places } = open({ placesMax: 32, waitingMax: 16 })
    assert.deepEqual(countStates(enterMany('first', 40)), { placed: 16, waiting: 8, rejected: 16 })
    assert.deepEqual(countStates(enterMany('second', 10)), { placed: 4, waiting: 2, rejected: 4 })
    assert.deepEqual(countStates(enterMany('third', 10)), { placed: 4, waiting: 2, rejected: 4 })
    assert.deepEqual([places.taken, places.waiting], [24, 12])
  })

  test('the groups of one holder have one share, take turns, and give each other room', () => {
    const places = new FairPlaces({
      ...{ placesMax: 16, waitingMax: 16, waitMsMax: WAIT_MS_MAX },
      holderOf: (group) => group.charAt(0),
    })
    const started: string[] = []
    const ended: string[] = []
    const enter = (group: string): Ticket => {
      const ticket = places.enter(group, () => started.push(group), { end: () => ended.push(group) })
      tickets.push(ticket)
      return ticket
    }
    const first = Array.from({ length: 8 }, () => enter('p1'))
    assert.deepEqual(countStates(first), { placed: 8 })
    assert.deepEqual([enter('p2').state, enter('p2').state], ['placed', 'placed'])
    assert.deepEqual(ended, ['p1', 'p1'])
    assert.deepEqual(countStates(first), { placed: 6, ended: 2 })
    for (const group of ['p1', 'p1', 'p1', 'p3']) assert.equal(enter(group).state, 'waiting')
    for (const ticket of first) ticket.leave()
    assert.deepEqual(started, ['p1', 'p3', 'p1', 'p1'])
  })

  test('a newcomer gets the newest place of the group with the most, unless the work must not end', () => {
    const { enterMany, places, ended, enter } = open({ placesMax: 8, waitingMax: 8 }, 'may end')
    const [kept, ...others] = enterMany('large', 4)
    for (const group of ['a', 'b', 'c', 'd']) enter(group)
    assert.equal(places.taken, 8)
    assert.equal(kept?.keep(), true)
    const newcomer = enter('newcomer')
    assert.deepEqual([newcomer.state, ended], ['placed', ['large']])
    assert.deepEqual(
      others.map(({ state }) => state),
      ['placed', 'placed', 'ended'],
    )
    assert.equal(others[2]?.keep(), false)
    others[2]?.leave()
    assert.equal(places.taken, 8)
    enter('next')
    assert.deepEqual(ended, ['large', 'large'])
    // The large group holds two places, so the next newcomer takes one, and then nobody has more than the others.
    enter('another')
    assert.equal(enter('too late').state, 'waiting')
    assert.deepEqual([ended.length, kept?.state], [3, 'placed'])
  })

  test('a newcomer gets the room in the queue of the group with the most', () => {
    const { enterMany, enter, started } = open({ placesMax: 1, waitingMax: 4 })
    enter('holder')
    const waiting = enterMany('large', 2)
    enterMany('b', 1)
    enterMany('c', 1)
    assert.equal(enter('newcomer').state, 'waiting')
    assert.deepEqual(countStates(waiting), { waiting: 1, rejected: 1 })
    assert.deepEqual(started, ['too late'])
    assert.equal(enter('large').state, 'rejected')
  })

  test('if only newcomers wait, a group that holds its share is rejected at once', () => {
    const places = new FairPlaces({ placesMax: 8, waitingMax: 8, waitMsMax: WAIT_MS_MAX, whoWaits: 'newcomers' })
    const enter = (group: string, count: number): Ticket[] => {
      const entered = Array.from({ length: count }, () => places.enter(group, () => undefined))
      tickets.push(...entered)
      return entered
    }
    assert.deepEqual(countStates(enter('first', 6)), { placed: 4, rejected: 2 })
    for (const group of ['a', 'b', 'c', 'd']) assert.deepEqual(countStates(enter(group, 2)), { placed: 1, rejected: 1 })
    assert.deepEqual(countStates(enter('newcomer', 1)), { waiting: 1 })
  })

  test('work fails with the given error if a newcomer gets its place, and not after it has kept the place', async () => {
    const places = new FairPlaces({ placesMax: 8, waitingMax: 0, waitMsMax: 0 })
    const options = { full: () => new Error('full'), mayEnd: true }
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const work = (isKept: boolean) => async (hold: HeldPlace) => {
      if (isKept) hold.keep()
      const { promise, reject } = Promise.withResolvers<never>()
      hold.ended.addEventListener('abort', () => reject(new Error('cut off')))
      await Promise.race([promise, released])
      hold.keep()
      return 'done'
    }
    const large = [true, true, false, false].map((isKept) => places.run('large', options, work(isKept)))
    const outcomes = Promise.allSettled(large)
    for (const group of ['a', 'b', 'c', 'd']) tickets.push(places.enter(group, () => undefined))
    // The work has begun by then, and has kept its place.
    await endOfTurn()
    const newcomers = ['e', 'f'].map((group) => places.run(group, options, work(true)))
    await assert.rejects(places.run('g', options, work(true)), /full/)
    release()
    assert.deepEqual(
      (await outcomes).map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : outcome.value)),
      ['done', 'done', 'Error: full', 'Error: full'],
    )
    assert.deepEqual(await Promise.all(newcomers), ['done', 'done'])
  })

  test('if everybody holds one place, a newcomer gets the place of work that has had its turn', async () => {
    const places = new FairPlaces({ placesMax: 2, waitingMax: 0, waitMsMax: 0, turnMs: 1 })
    const ended: string[] = []
    const enter = (group: string): Ticket => {
      const ticket = places.enter(group, () => undefined, { end: () => ended.push(group) })
      tickets.push(ticket)
      return ticket
    }
    assert.deepEqual([enter('a').state, enter('b').state, enter('too early').state], ['placed', 'placed', 'rejected'])
    await waitFor('the end of the turns', () => enter('newcomer').state === 'placed')
    assert.deepEqual([ended.length, enter('newcomer').state], [1, 'rejected'])
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

  test('whoever comes, whatever ends or is kept: nobody who has paid is cut off, and a newcomer finds a place that can end', () => {
    const HOLDERS = 6
    const step = fc.record({
      move: fc.constantFrom('enter', 'enter', 'enter', 'keep', 'leave'),
      group: fc.nat(2 * HOLDERS - 1),
      which: fc.nat(1_000),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 40 }), (steps, placesMax) => {
        const holderOf = (group: string): string => `holder ${Number(group) % HOLDERS}`
        const places = new FairPlaces({ placesMax, waitingMax: 4, waitMsMax: WAIT_MS_MAX, holderOf })
        const all: { readonly holder: string; readonly ticket: Ticket; isKept: boolean; ends: number }[] = []
        const held = (holder: string) => all.filter((one) => one.holder === holder && one.ticket.state === 'placed')
        for (const { move, group, which } of steps) {
          const one = all[which % Math.max(all.length, 1)]
          if (move === 'leave') one?.ticket.leave()
          else if (move === 'keep' && one !== undefined) one.isKept ||= one.ticket.keep()
          else {
            const holder = holderOf(String(group))
            const isNewcomer = all.every(
              (other) => other.holder !== holder || !['placed', 'waiting'].includes(other.ticket.state),
            )
            const mayGive = all.some(({ ticket, isKept, holder: other }) => {
              return ticket.state === 'placed' && !isKept && held(other).length > 1
            })
            const entered = { holder, isKept: false, ends: 0 }
            const ticket = places.enter(String(group), () => undefined, { end: () => (record.ends += 1) })
            const record = Object.assign(entered, { ticket })
            tickets.push(ticket)
            all.push(record)
            if (isNewcomer && mayGive) assert.equal(ticket.state, 'placed')
          }
          const placed = all.filter(({ ticket }) => ticket.state === 'placed')
          assert.equal(placed.length, places.taken)
          assert.ok(places.taken <= placesMax)
          for (const { ticket, isKept, ends } of all) {
            assert.equal(ends, ticket.state === 'ended' ? 1 : 0)
            assert.ok(!isKept || ticket.state !== 'ended')
          }
          const [first] = placed
          const isAlone = placed.every(({ holder }) => holder === first?.holder)
          if (isAlone) assert.ok(placed.length <= Math.ceil(placesMax / 2))
        }
        for (const { ticket } of all) ticket.leave()
        assert.deepEqual([places.taken, places.waiting], [0, 0])
      }),
    )
  })
})
