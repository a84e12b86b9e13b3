import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SharedReads } from './shared-reads.ts'

describe('shared reads', () => {
  test('one read runs at a time, and all callers that arrive meanwhile share the next one', async () => {
    const { read, finish, begun } = makeReads()
    const first = read('a')
    const others = [read('a'), read('a'), read('a')]
    assert.equal(begun(), 1)
    finish(0)
    assert.equal(await first, 0)
    // This caller arrives while the second read is in progress.
    const last = read('a')
    assert.equal(begun(), 2)
    finish(1)
    assert.deepEqual(await Promise.all(others), [1, 1, 1])
    finish(2)
    assert.equal(await last, 2)
    assert.equal(begun(), 3)
  })

  test('if no read is running, a new one begins at once', async () => {
    const { read, finish, begun } = makeReads()
    for (const count of [0, 1]) {
      const one = read('a')
      assert.equal(begun(), count + 1)
      finish(count)
      assert.equal(await one, count)
    }
  })

  test('reads of another key are separate', async () => {
    const { read, finish, begun } = makeReads()
    const both = [read('a'), read('b')]
    assert.equal(begun(), 2)
    finish(1)
    assert.equal(await both[1], 1)
    finish(0)
    assert.equal(await both[0], 0)
  })

  test('only the callers that share a read get its failure', async () => {
    const { read, finish, fail } = makeReads()
    const first = read('a')
    const second = [read('a'), read('a')]
    fail(0)
    await assert.rejects(first, /number 0/)
    const third = read('a')
    fail(1)
    for (const one of second) await assert.rejects(one, /number 1/)
    finish(2)
    assert.equal(await third, 2)
  })
})

/**
 * Returns a function whose reads end when the test calls `finish` or `fail` with the read's index, which starts at 0.
 * `finish` makes the read return its index.
 */
function makeReads() {
  const reads = new SharedReads<number>()
  const runs: PromiseWithResolvers<number>[] = []
  const run = () => {
    const one = Promise.withResolvers<number>()
    runs.push(one)
    return one.promise
  }
  return {
    read: (key: string) => reads.read(key, run),
    begun: () => runs.length,
    finish: (index: number) => runs[index]?.resolve(index),
    fail: (index: number) => runs[index]?.reject(new Error(`number ${index}`)),
  }
}
