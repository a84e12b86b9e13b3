import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { liveKey } from './changes.ts'
import { keyOf } from './query.ts'
import { grantQuery, grantsQuery } from './queries.ts'

describe('keyOf', () => {
  test('names the path, the mode and the filter', () => {
    const input = { params: { slug: 'acme' }, query: { mode: 'test', agent: 'a' } }
    const name = 'GET /console/workspaces/:slug/recipients'
    assert.deepEqual(keyOf(name, input), ['workspaces', 'acme', 'recipients', 'test', { agent: 'a' }])
    assert.deepEqual(keyOf('GET /console/passkeys', {}), ['passkeys'])
  })

  test('begins with the key of the changes if the query is live, even if the endpoint takes no mode', () => {
    const live = liveKey('acme', 'live')
    assert.deepEqual(grantsQuery('acme', 'live').queryKey, [...live, 'grants'])
    assert.deepEqual(grantsQuery('acme', 'live', { agent: 'a' }).queryKey, [...live, 'grants', { agent: 'a' }])
    assert.deepEqual(grantQuery('acme', 'live', 'gr_1').queryKey, [...live, 'grants', 'gr_1'])
  })
})
