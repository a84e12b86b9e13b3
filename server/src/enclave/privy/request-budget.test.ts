import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { openPools } from '../../lib/pools.ts'
import { createRequestBudget } from './request-budget.ts'

const never = new AbortController().signal

function open(placesMax: number) {
  return createRequestBudget(openPools({ lookUps: { placesMax } }).lookUps)
}

describe('the request budget', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())

  it('starts at most this many requests per second, and later ones in order', async () => {
    const budget = open(2)
    const begun: number[] = []
    const all = [1, 2, 3, 4, 5].map(async (number) => {
      await budget.take('acc_1', never)
      begun.push(number)
    })
    await settle()
    assert.deepEqual(begun, [1, 2])
    mock.timers.tick(1_000)
    await settle()
    assert.deepEqual(begun, [1, 2, 3, 4])
    mock.timers.tick(1_000)
    await Promise.all(all)
    assert.deepEqual(begun, [1, 2, 3, 4, 5])
  })

  it('gives the turn of an aborted request to the next one', async () => {
    const budget = open(1)
    const impatient = new AbortController()
    await budget.take('acc_1', never)
    const gaveUp = assert.rejects(budget.take('acc_1', impatient.signal), { name: 'AbortError' })
    const next = budget.take('acc_1', never)
    impatient.abort()
    await gaveUp
    mock.timers.tick(1_000)
    await next
  })

  it('rejects at once with a signal that is aborted already', async () => {
    await assert.rejects(open(1).take('acc_1', AbortSignal.abort()), { name: 'AbortError' })
  })
})

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
}
