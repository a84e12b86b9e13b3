import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SharedReads } from './shared-reads.ts'

describe('shared reads', () => {
  test('one is under way at a time, and all who ask meanwhile share the next one', async () => {
    const { read, finish, begun } = makeReads()
    const first = read('a')
    const others = [read('a'), read('a'), read('a')]
    assert.equal(begun(), 1)
    finish(0)
    assert.equal(await first, 0)
    // A caller that starts now starts while the second read is in progress.
    const last = read('a')
    assert.equal(begun(), 2)
    finish(1)
    assert.deepEqual(await Promise.all(others), [1, 1, 1])
    finish(2)
    assert.equal(await last, 2)
    assert.equal(begun(), 3)
  })

  test('when nothing is under way any more, one begins at once', async () => {
    const { read, finish, begun } = makeReads()
    for (const count of [0, 1]) {
      const one = read('a')
      assert.equal(begun(), count + 1)
      finish(count)
      assert.equal(await one, count)
    }
  })

  test('another key has its own', async () => {
    const { read, finish, begun } = makeReads()
    const both = [read('a'), read('b')]
    assert.equal(begun(), 2)
    finish(1)
    assert.equal(await both[1], 1)
    finish(0)
    assert.equal(await both[0], 0)
  })

  test('one that fails fails those who share it, and no others', async () => {
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

/** Returns reads that each return their number once the test lets them end. */
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
