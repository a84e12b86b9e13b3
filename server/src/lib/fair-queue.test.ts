import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FairQueue, type QueueEntry } from './fair-queue.ts'

const LIMITS = { waitingMax: 6, waitingOfGroupMax: 4 }

interface Named extends QueueEntry {
  readonly name: string
}

test('groups are served in turn, however many entries one of them has', () => {
  const queue = fill(['a', 'a', 'a', 'a'].map((group, index) => entry(`a${index}`, { group })))
  queue.add(entry('b0', { group: 'b' }))
  queue.add(entry('c0', { group: 'c' }))
  assert.deepEqual(takeNames(queue, 4), ['a0', 'b0', 'c0', 'a1'])
})

test('the group that was served last is the last one in the next turn', () => {
  const queue = fill(['a', 'b', 'a', 'b'].map((group, index) => entry(`${group}${index}`, { group })))
  assert.deepEqual(takeNames(queue, 1), ['a0'])
  assert.deepEqual(takeNames(queue, 2), ['b1', 'a2'])
})

test('a full queue, or a group with too many entries, takes no more', () => {
  const queue = new FairQueue<Named>(LIMITS)
  const added = ['a', 'a', 'a', 'a', 'a', 'b', 'c', 'd'].map((group) => queue.add(entry('', { group })))
  assert.deepEqual(added, [true, true, true, true, false, true, true, false])
  assert.equal(queue.waiting, LIMITS.waitingMax)
})

test('an entry waits while one of its keys is busy, and later entries with its keys wait behind it', () => {
  const first = entry('first', { keys: ['x'] })
  const queue = fill([first, entry('second', { keys: ['x', 'y'] }), entry('third', { keys: ['y'] }), entry('other')])
  assert.deepEqual(takeNames(queue, 9), ['first', 'other'])
  assert.deepEqual(takeNames(queue, 9), [])
  queue.release(first)
  assert.deepEqual(takeNames(queue, 9), ['second'])
})

test('entries with the same batch key are taken together, and the next ones after their batch', () => {
  const first = entry('first', { batchKey: 'x' })
  const queue = fill([first, entry('second', { batchKey: 'x' })])
  assert.deepEqual(takeNames(queue, 9), ['first', 'second'])
  queue.add(entry('third', { batchKey: 'x' }))
  assert.deepEqual(takeNames(queue, 9), [])
  queue.leaveBatch(first)
  assert.deepEqual(takeNames(queue, 9), ['third'])
})

test('an entry that was removed is never taken, and can be removed only once', () => {
  const removed = entry('removed')
  const queue = fill([removed, entry('other')])
  assert.equal(queue.remove(removed), true)
  assert.equal(queue.remove(removed), false)
  assert.deepEqual(takeNames(queue, 9), ['other'])
  assert.equal(queue.waiting, 0)
})

test('property: every entry is taken once, in the order of its key, and never together with an entry of the same key', () => {
  const steps = fc.array(fc.record({ group: fc.nat(2), key: fc.nat(3), max: fc.nat(3) }), { maxLength: 60 })
  fc.assert(
    fc.property(steps, (made) => {
      const queue = new FairQueue<Named>({ waitingMax: 100, waitingOfGroupMax: 100 })
      const taken: Named[] = []
      let running: Named[] = []
      for (const [index, { group, key, max }] of made.entries()) {
        // Keys of two groups differ, as wallets of two workspaces do.
        queue.add(entry(String(index), { group: `${group}`, keys: [`${group}:${key}`] }))
        const next = queue.take(max)
        const busy = [...running, ...next].map(({ keys }) => keys[0])
        assert.equal(new Set(busy).size, busy.length)
        running.push(...next)
        taken.push(...next)
        // Every second step, all running entries end.
        if (index % 2 === 0) continue
        for (const ended of running) queue.release(ended)
        running = []
      }
      for (const ended of running) queue.release(ended)
      while (queue.waiting > 0) {
        const next = queue.take(10)
        assert.notEqual(next.length, 0)
        taken.push(...next)
        for (const ended of next) queue.release(ended)
      }
      assert.equal(new Set(taken).size, made.length)
      for (const [, entries] of Map.groupBy(taken, ({ keys }) => keys[0])) {
        const order = entries.map(({ name }) => Number(name))
        assert.deepEqual(
          order,
          order.toSorted((one, other) => one - other),
        )
      }
    }),
  )
})

function entry(name: string, { group = 'a', keys = [], batchKey = null }: Partial<QueueEntry> = {}): Named {
  return { name, group, keys, batchKey }
}

function fill(entries: readonly Named[]): FairQueue<Named> {
  const queue = new FairQueue<Named>(LIMITS)
  for (const each of entries) queue.add(each)
  return queue
}

function takeNames(queue: FairQueue<Named>, max: number): string[] {
  return queue.take(max).map(({ name }) => name)
}
