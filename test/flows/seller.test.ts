import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fetchOnce } from '../../sandbox/src/lib/fetch-once.ts'
import { openSharedSandboxFixture } from '../support/sandbox/sandbox-fixture.ts'
import { createResource, readCounters, readTakings } from '../support/sandbox/seller.ts'

describe('resources at the seller of one sandbox', () => {
  it('have faults, counters and payees of their own', async () => {
    const fixture = await openSharedSandboxFixture()
    const [page, other] = await Promise.all([
      createResource(fixture, { faults: ['html_paywall'], mode: 'live' }),
      createResource(fixture),
    ])
    const answers = await Promise.all([fetchOnce(page.url), fetchOnce(page.url), fetchOnce(other.url)])
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.has('payment-required')]),
      [
        [402, false],
        [402, false],
        [402, true],
      ],
    )
    const counters = await Promise.all([readCounters(fixture, page), readCounters(fixture, other)])
    assert.deepEqual(
      counters.map(({ requests, settlements }) => [requests, settlements]),
      [
        [2, 0],
        [1, 0],
      ],
    )
    assert.notEqual(page.payTo, other.payTo)
    assert.deepEqual(await Promise.all([readTakings(fixture, page), readTakings(fixture, other)]), [0n, 0n])
  })
})
