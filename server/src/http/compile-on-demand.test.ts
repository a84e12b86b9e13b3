import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Fastify from 'fastify'
import { compileOnDemand } from './compile-on-demand.ts'

const BROKEN = { type: 'no such type' }
const QUERY = { type: 'object', properties: { count: { type: 'string', maxLength: 2 } }, required: ['count'] }
const BODY = { type: 'object', properties: { count: { type: 'string' } } }

describe('schemas that are compiled on demand', () => {
  test('are not compiled at the start, and checked at each request', async () => {
    const http = Fastify({ schemaController: { compilersFactory: compileOnDemand() } })
    const schema = { querystring: QUERY, response: { 200: BODY } }
    http.get('/whole', { schema }, (request) => ({ ...(request.query as object), more: true }))
    http.get('/broken-query', { schema: { querystring: BROKEN } }, () => ({}))
    http.get('/broken-response', { schema: { response: { 200: BROKEN } } }, () => ({}))
    await http.ready()

    for (const path of ['/whole', '/whole?count=100']) {
      const { statusCode, body } = await http.inject(path)
      assert.equal(statusCode, 400)
      assert.match(body, /querystring.*count/)
    }
    const { statusCode, body } = await http.inject('/whole?count=1')
    assert.deepEqual([statusCode, body], [200, '{"count":"1"}'])
    for (const path of ['/broken-query', '/broken-response']) {
      assert.equal((await http.inject(path)).statusCode, 500, path)
    }
    await http.close()
  })
})
