import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SparingQueue } from './sparing-queue.ts'

const LIMITS = { perTurnMin: 2, timeShareMax: 0.25, savedMsMax: 20 }
/** How long each piece of work takes. */
const PIECE_MS = 1
/** The number of pieces that use up all saved time. Meanwhile, a quarter of the time that they take is saved again. */
const SAVED_PIECES = 27

test('a piece is done at once while time is saved', () => {
  const { add, turn, done } = open()
  add(SAVED_PIECES)
  assert.equal(done.length, SAVED_PIECES)
  assert.equal(turn(0), 0)
})

test('without saved time, every turn does a few pieces, in the order in which they were added', () => {
  const { add, turn, done } = open()
  add(SAVED_PIECES + 3)
  assert.equal(done.length, SAVED_PIECES)
  assert.equal(turn(0), 2)
  add(1)
  assert.deepEqual([turn(0), turn(0)], [2, 0])
  assert.deepEqual(
    done,
    Array.from({ length: SAVED_PIECES + 4 }, (_, index) => index),
  )
})

test('a long turn leaves a share of its time, so that the queue takes at most a quarter of it all', () => {
  const { add, turn } = open()
  add(SAVED_PIECES + 100)
  // In 40 ms of which the other work takes 30, the queue takes 10.
  assert.deepEqual([turn(30), turn(15), turn(3)], [10, 5, 2])
})

test('after a time without work, no more time is saved than the limit', () => {
  const { add, turn } = open()
  add(SAVED_PIECES + 100)
  assert.equal(turn(3_600_000), SAVED_PIECES)
})

test('a clock that is set back takes no time away', () => {
  const { add, turn } = open()
  add(SAVED_PIECES + 100)
  assert.deepEqual([turn(-3_600_000), turn(30)], [2, 10])
})

test('a piece that is added by another piece waits for its turn, and is done once', () => {
  const { queue, turn } = open()
  const done: string[] = []
  queue.add(() => {
    done.push('first')
    queue.add(() => done.push('second'))
  })
  for (const _ of [1, 2, 3]) turn(0)
  assert.deepEqual(done, ['first', 'second'])
})

/** A queue whose time and turns the test decides. */
function open() {
  let nowMs = 0
  let waiting: (() => void)[] = []
  let added = 0
  const done: number[] = []
  const clock = { now: () => new Date(nowMs) }
  const queue = new SparingQueue({ ...LIMITS, clock, inNextTurn: (run) => waiting.push(run) })
  const add = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      const number = added
      added += 1
      queue.add(() => {
        done.push(number)
        nowMs += PIECE_MS
      })
    }
  }
  /** Lets other work take `otherMs`, then runs the turn. Returns how many pieces of work it did. */
  const turn = (otherMs: number): number => {
    nowMs += otherMs
    const before = done.length
    const due = waiting
    waiting = []
    for (const run of due) run()
    return done.length - before
  }
  return { queue, done, add, turn }
}
