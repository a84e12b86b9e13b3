import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { buildPath } from './build-path.ts'

describe('buildPath', () => {
  test('fills in the parameters, each escaped', () => {
    const params = { slug: 'acme', id: 'a/b?c' }
    assert.equal(
      buildPath('/console/workspaces/:slug/agents/:id', { params }),
      '/console/workspaces/acme/agents/a%2Fb%3Fc',
    )
  })

  test('adds the query, and leaves out what is undefined', () => {
    const query = { mode: 'test', agent: 'a&b', before: undefined }
    assert.equal(buildPath('/console/x', { query }), '/console/x?mode=test&agent=a%26b')
    assert.equal(buildPath('/console/x', { query: { before: undefined } }), '/console/x')
  })

  test('throws if a parameter is missing', () => {
    assert.throws(() => buildPath('/console/sessions/:id', { params: {} }), /id/)
  })
})
