import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { keyOf, liveKey } from './query-key.ts'

describe('keyOf', () => {
  test('names the path, the mode and the filter', () => {
    const input = { params: { slug: 'acme' }, query: { mode: 'test', agent: 'a' } }
    const name = 'GET /console/workspaces/:slug/recipients'
    assert.deepEqual(keyOf(name, input), ['workspaces', 'acme', 'recipients', 'test', { agent: 'a' }])
    assert.deepEqual(keyOf('GET /console/passkeys', {}), ['passkeys'])
  })

  test('begins with the key of the changes if the query is live, even if the endpoint takes no mode', () => {
    const live = liveKey('acme', 'live')
    const list = 'GET /console/workspaces/:slug/grants'
    const input = { params: { slug: 'acme' }, query: { mode: 'live' } }
    assert.deepEqual(keyOf(list, input, 'live'), [...live, 'grants'])
    const one = { params: { slug: 'acme', id: 'gr_1' } }
    assert.deepEqual(keyOf(`${list}/:id`, one, 'live'), [...live, 'grants', 'gr_1'])
  })
})
