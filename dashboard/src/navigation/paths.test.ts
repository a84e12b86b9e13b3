import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inMode, pathTo, samePageIn } from './paths.ts'

test('every part of a path is escaped', () => {
  assert.equal(pathTo('acme', 'test', 'agents', 'a/b c?'), '/w/acme/test/agents/a%2Fb%20c%3F')
  assert.equal(pathTo('acme', 'live'), '/w/acme/live')
})

test('switching the mode keeps the list but not the entry', () => {
  const rows = [
    ['/w/acme/test', '/w/acme/live'],
    ['/w/acme/test/', '/w/acme/live'],
    ['/w/acme/test/payments', '/w/acme/live/payments'],
    ['/w/acme/test/payments/pay_1', '/w/acme/live/payments'],
    ['/w/acme/test/developers/webhooks/whk_1', '/w/acme/live/developers/webhooks'],
    ['/w/acme/test/developers/keys', '/w/acme/live/developers/keys'],
  ] as const
  for (const [from, to] of rows) assert.equal(inMode(from, 'acme', 'live'), to)
})

test('an entry that is in the other mode is opened there', () => {
  assert.equal(samePageIn('/w/acme/test/agents/a%2Fb', 'acme', 'live'), '/w/acme/live/agents/a%2Fb')
})
