import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pino from 'pino'
import { waitFor } from '../../../test/support/wait-for.ts'
import { openPools } from './pools.ts'
import { SharedPoll, type WaitKey } from './shared-poll.ts'

const PATIENT_MS = 20_000
const NEVER = new AbortController().signal

describe('a shared poll', () => {
  test('one poll covers all callers, each key once, and nothing is polled while nobody waits', async () => {
    const { poll, polled, ready } = open()
    assert.equal(polled.length, 0)
    const waits = ['a', 'a', 'b'].map((id) => poll.wait(key(id), { msMax: PATIENT_MS, signal: NEVER }))
    await waitFor('a poll of both keys', () => polled.some((keys) => keys.length === 2))
    assert.ok(polled.every((keys) => keys.length <= 2))
    ready.push(key('a'), key('b'))
    await Promise.all(waits)
    assert.equal(poll.waiting, 0)
    const count = polled.length
    await poll.wait(key('c'), { msMax: 0, signal: NEVER })
    assert.equal(polled.length, count)
  })

  test('anyone who knows that a wait is over can end it before the next poll', async () => {
    const { poll } = open()
    const waits = ['a', 'a', 'b'].map((id) => poll.wait(key(id), { msMax: PATIENT_MS, signal: NEVER }))
    poll.end([key('a'), key('c')])
    await Promise.all(waits.slice(0, 2))
    assert.equal(poll.waiting, 1)
    poll.end([key('b')])
    await Promise.all(waits)
    poll.end([key('b')])
    assert.equal(poll.waiting, 0)
  })

  test('a caller waits no longer than it asked for, and not after its signal was aborted', async () => {
    const { poll } = open()
    await poll.wait(key('a'), { msMax: 20, signal: NEVER })
    const controller = new AbortController()
    const wait = poll.wait(key('a'), { msMax: PATIENT_MS, signal: controller.signal })
    assert.equal(poll.waiting, 1)
    controller.abort()
    await wait
    await poll.wait(key('a'), { msMax: PATIENT_MS, signal: controller.signal })
    assert.equal(poll.waiting, 0)
  })

  test('without a place for its group, a caller does not wait; a newcomer ends the wait of the largest group', async () => {
    const { poll } = open(4)
    const controller = new AbortController()
    const wait = (group: string) => poll.wait({ group, id: 'a' }, { msMax: PATIENT_MS, signal: controller.signal })
    const waits = [wait('one'), wait('one')]
    await wait('one')
    assert.equal(poll.waiting, 2)
    waits.push(wait('two'), wait('three'))
    await wait('two')
    assert.equal(poll.waiting, 4)
    const newcomer = wait('four')
    await waits[1]
    assert.equal(poll.waiting, 4)
    waits.push(newcomer)
    controller.abort()
    await Promise.all(waits)
    assert.equal(poll.waiting, 0)
  })

  test('after a failed poll, the callers still wait for the next one', async () => {
    const { poll, ready, fail } = open()
    fail()
    const wait = poll.wait(key('a'), { msMax: PATIENT_MS, signal: NEVER })
    ready.push(key('a'))
    await wait
  })
})

function key(id: string): WaitKey {
  return { group: 'workspace', id }
}

function open(placesMax = 20) {
  const polled: (readonly WaitKey[])[] = []
  const ready: WaitKey[] = []
  let isFailing = false
  const poll = new SharedPoll({
    name: 'test',
    intervalMs: 1,
    places: openPools({ paymentWaits: { placesMax } }).paymentWaits,
    logger: pino({ level: 'silent' }),
    async poll(keys) {
      polled.push(keys)
      if (isFailing) {
        isFailing = false
        throw new Error('the poll failed')
      }
      return keys.filter(({ id }) => ready.some((known) => known.id === id))
    },
  })
  return { poll, polled, ready, fail: () => (isFailing = true) }
}
