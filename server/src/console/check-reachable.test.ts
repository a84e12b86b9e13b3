import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { waitFor } from '../../../test/support/wait-for.ts'
import { createReachabilityCheck } from './check-reachable.ts'

const fails = () => Promise.reject(new Error('down'))

describe('whether a part of the service can be reached', () => {
  test('50 callers at once cost one check, and so do callers shortly afterwards', async () => {
    let checks = 0
    const isReachable = createReachabilityCheck(async () => {
      checks += 1
    })
    await Promise.all(Array.from({ length: 50 }, isReachable))
    assert.equal(await isReachable(), true)
    assert.equal(checks, 1)
  })

  const cases = [
    ['a check that succeeds', [true], true],
    ['one lost request', [false, true], true],
    ['a check that fails twice', [false, false], false],
  ] as const
  for (const [name, results, expected] of cases) {
    test(`${name} means ${expected ? 'reachable' : 'unreachable'}`, async () => {
      const left = [...results]
      const isReachable = createReachabilityCheck(async () => {
        if (left.shift() !== true) await fails()
      })
      assert.equal(await isReachable(), expected)
      assert.deepEqual(left, [])
    })
  }

  test('a slow check keeps nobody waiting: the last result is returned until it ends', async () => {
    const { promise, reject } = Promise.withResolvers<void>()
    let checks = 0
    const check = () => {
      checks += 1
      return checks === 1 ? promise : fails()
    }
    const isReachable = createReachabilityCheck(check, { waitMsMax: 1 })
    assert.deepEqual([await isReachable(), checks], [true, 1])
    reject(new Error('too late'))
    await promise.catch(() => {})
    const patient = createReachabilityCheck(() => promise)
    assert.equal(await patient(), false)
    assert.equal(await isReachable(), false)
    assert.equal(checks, 2)
  })

  test('a part that is back is found at a later check', async () => {
    let isDown = true
    const isReachable = createReachabilityCheck(() => (isDown ? fails() : Promise.resolve()), { gapMs: 0 })
    assert.equal(await isReachable(), false)
    isDown = false
    await waitFor('the next check', isReachable)
  })
})
