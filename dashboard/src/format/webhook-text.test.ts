import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EVENT_TYPES } from '@bursar/server/src/domain/events/event.ts'
import { explainAttempt, explainUrlError, formatEventTypes } from './webhook-text.ts'

test('an endpoint with all event types is summarized, another one lists its types', () => {
  assert.equal(formatEventTypes(EVENT_TYPES), 'All event types')
  assert.equal(formatEventTypes(['payment.failed', 'inbound.received']), 'payment.failed, inbound.received')
})

test('an attempt is a success by a status from 200 to 299 and nothing else', () => {
  for (const status of [200, 204, 299]) assert.equal(explainAttempt({ error: null, status_code: status }), null)
  for (const status of [199, 300, 500, null])
    assert.match(String(explainAttempt({ error: null, status_code: status })), /200 to 299/)
  assert.match(String(explainAttempt({ error: 'timeout', status_code: 200 })), /10 seconds/)
  assert.equal(explainAttempt({ error: 'moonquake', status_code: null }), 'The attempt failed: moonquake.')
})

test('a rejected URL is explained', () => {
  assert.match(String(explainUrlError('not_https')), /https/)
  assert.equal(explainUrlError('moonquake'), null)
  assert.equal(explainUrlError(undefined), null)
})
