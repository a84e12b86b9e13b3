import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientAddress } from './client-address.ts'

const CASES: readonly (readonly [string, string])[] = [
  ['203.0.113.7', '203.0.113.7'],
  ['203.0.113.7:5678', '203.0.113.7'],
  ['::ffff:203.0.113.7', 'cb00:7107'],
  ['::FFFF:cb00:7107', 'cb00:7107'],
  ['[2001:db8:1:2::1]:443', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
  ['unknown', 'unknown'],
]

for (const [ip, expected] of CASES) {
  test(`${ip} counts as ${expected}`, () => {
    assert.equal(clientAddress({ ip }), expected)
  })
}
