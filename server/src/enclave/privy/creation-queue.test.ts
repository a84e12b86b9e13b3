import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { createCreationQueue } from './creation-queue.ts'

const AT_ONCE = 10

test('creations run 10 at a time in the order in which they came, and a failed one makes room too', async () => {
  const { run } = createCreationQueue()
  const started: number[] = []
  const ends: (() => void)[] = []
  const asked = Array.from({ length: 2 * AT_ONCE + 1 }, async (_, index) =>
    run(async () => {
      started.push(index)
      await new Promise<void>((resolve) => ends.push(resolve))
      if (index % 2 === 0) throw new Error('failed')
    }),
  )
  const outcomes = Promise.allSettled(asked)
  for (let ended = 0; ended < asked.length; ended += 1) {
    await endOfTurn()
    assert.equal(started.length, Math.min(ended + AT_ONCE, asked.length))
    ends[ended]?.()
    await asked[ended]?.catch(() => undefined)
  }
  assert.deepEqual(
    started,
    Array.from(asked, (_, index) => index),
  )
  assert.equal((await outcomes).filter(({ status }) => status === 'rejected').length, AT_ONCE + 1)
  assert.equal(await run(async () => 'free again'), 'free again')
})

test('a creation fails at once if too many wait', async () => {
  const { run } = createCreationQueue({ waitingMax: 1 })
  const { promise, resolve } = Promise.withResolvers<void>()
  const asked = Array.from({ length: AT_ONCE + 1 }, async () => run(async () => promise))
  await assert.rejects(
    run(async () => undefined),
    /too many requests wait/,
  )
  resolve()
  await Promise.all(asked)
})
