import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inMode, pathTo } from './paths.ts'

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
