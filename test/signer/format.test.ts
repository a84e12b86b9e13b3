import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { usdcAddress } from '../../sandbox/src/chain/deploy-usdc.ts'
import {
  formatAmount,
  formatFingerprint,
  formatTime,
  formatTimeLeft,
  isUsdc,
} from '../../signer/src/describe/format.ts'

describe('figures', () => {
  for (const [micro, text] of [
    [0n, '0.00'],
    [1n, '0.000001'],
    [10_000n, '0.01'],
    [1_250_000n, '1.25'],
    [1_234_567n, '1.234567'],
    [1_234_567_890_100n, '1,234,567.8901'],
    [2n ** 256n - 1n, `${(2n ** 256n / 1_000_000n).toLocaleString('en')}.639935`],
  ] as const) {
    test(`${micro} is ${text}`, () => assert.equal(formatAmount(micro), text))
  }

  test('the sandbox’s USDC is called so on this computer only', () => {
    const local = usdcAddress.toLowerCase()
    const place = globalThis as { location?: { hostname: string } }
    assert.equal(isUsdc(8453n, local), false)
    try {
      place.location = { hostname: 'signer.localhost' }
      assert.equal(isUsdc(8453n, local), true)
      place.location = { hostname: 'localhost.example' }
      assert.equal(isUsdc(8453n, local), false)
    } finally {
      delete place.location
    }
  })

  test('times are written as on the dashboard, with their year and time zone', () => {
    const time = new Date('2026-12-27T15:03:00Z')
    assert.equal(formatTime(time, 'UTC'), '27 Dec 2026, 15:03 UTC')
    assert.equal(formatTime(time, 'Europe/Berlin'), '27 Dec 2026, 16:03 CET')
    assert.equal(formatTime(new Date(8_640_000_000_000_000), 'UTC'), '13 Sept 275760, 00:00 UTC')
  })

  test('the time that is left is rounded up', () => {
    const now = new Date(0)
    const texts = [-1, 1, 60_000, 60_001].map((ms) => formatTimeLeft(new Date(ms), now))
    assert.deepEqual(texts, ['less than a minute', 'less than a minute', 'less than a minute', '2 minutes'])
  })

  test('fingerprints can be compared by two people', () => {
    assert.equal(formatFingerprint(Uint8Array.from({ length: 32 }, (_, byte) => byte)), '0001 0203 0405 0607')
  })
})
