import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { waitFor } from '../../../test/support/wait-for.ts'
import { createLogger } from '../lib/logger.ts'
import type { Query } from './query.ts'
import { DeferredWrites } from './deferred-writes.ts'

describe('deferred writes', () => {
  test('run one at a time and in order, also after one that fails', async () => {
    const { writes, written, finish, warnings } = makeWrites()
    for (const name of ['a', 'b', 'c']) writes.add(query(name))
    assert.deepEqual(written, ['a'])
    finish(new Error('lost'))
    await waitFor('the second', () => written.length === 2)
    finish()
    await waitFor('the third', () => written.length === 3)
    assert.deepEqual(written, ['a', 'b', 'c'])
    assert.equal(warnings(), 1)
    finish()
    await writes.close()
  })

  test('are dropped while 100 are waiting, with one warning', async () => {
    const { writes, written, finish, warnings } = makeWrites()
    // The first of the 106 writes starts at once and does not wait. The next 100 wait, and the rest are dropped.
    for (let index = 0; index <= 105; index += 1) writes.add(query(String(index)))
    assert.equal(warnings(), 1)
    for (let count = 1; count <= 101; count += 1) {
      await waitFor('the next', () => written.length === count)
      finish()
    }
    writes.add(query('later'))
    await waitFor('one that is added later', () => written.at(-1) === 'later')
    assert.equal(written.length, 102)
    finish()
    await writes.close()
  })

  test('are finished before the service stops', async () => {
    const { writes, written, finish, warnings } = makeWrites()
    writes.add(query('a'))
    writes.add(query('b'))
    const closed = writes.close()
    finish()
    await waitFor('the second', () => written.length === 2)
    finish()
    await closed
    assert.deepEqual([written, warnings()], [['a', 'b'], 0])
    writes.add(query('too late'))
    assert.deepEqual([written.length, warnings()], [2, 1])
  })

  test('are abandoned if they take too long when the service stops', async () => {
    const { writes, written, warnings } = makeWrites()
    writes.add(query('a'))
    writes.add(query('b'))
    await writes.close()
    assert.deepEqual([written, warnings()], [['a'], 1])
  })
})

/** Returns writes that end only when the test ends them. */
function makeWrites() {
  const written: string[] = []
  let [current, warnings] = [Promise.withResolvers<void>(), 0]
  const logger = Object.assign(createLogger('silent'), {
    warn: () => {
      warnings += 1
    },
  })
  const write = async <Result>({ name, read }: Query<Result>) => {
    written.push(name)
    current = Promise.withResolvers<void>()
    await current.promise
    return read([], 0)
  }
  return {
    writes: new DeferredWrites({ write }, logger),
    written,
    finish: (error?: Error) => (error === undefined ? current.resolve() : current.reject(error)),
    warnings: () => warnings,
  }
}

function query(name: string): Query<unknown> {
  return { name, text: '', values: [], read: () => null }
}
