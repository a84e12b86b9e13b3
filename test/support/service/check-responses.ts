import assert from 'node:assert/strict'
import type { FastifyRequest } from 'fastify'
import type { HttpServer } from '../../../server/src/http/open-http.ts'

/** Throws if any response so far has not matched its schema. */
export type AssertChecked = () => void

/**
 * Checks every response of the dashboard's endpoints against its schema. Before a response is sent, the serializer
 * drops or converts values that the schema does not allow. The check fails if a response is not valid, or if the
 * serializer has changed it. A response that fails becomes a 500. The returned function throws as well, because a test
 * may expect an error and not notice the 500.
 */
export function checkResponses(http: HttpServer): AssertChecked {
  const payloads = new WeakMap<FastifyRequest, unknown>()
  const faults: Error[] = []
  const check = (request: FastifyRequest, work: () => void): void => {
    try {
      work()
    } catch (cause) {
      const fault = new Error(`${request.method} ${request.routeOptions.url} broke its contract`, { cause })
      faults.push(fault)
      throw fault
    }
  }
  http.addHook('preSerialization', async (request, reply, payload) => {
    if (!request.url.startsWith('/console/') || reply.statusCode >= 400) return payload
    check(request, () => {
      const responses: Readonly<Record<number, object | undefined>> = Object(request.routeOptions.schema?.response)
      const schema = responses[reply.statusCode]
      assert.ok(schema !== undefined, `no schema for status ${reply.statusCode}`)
      const isValid = request.compileValidationSchema(schema)
      assert.ok(isValid(payload), JSON.stringify(isValid.errors))
      payloads.set(request, JSON.parse(JSON.stringify(payload)))
    })
    return payload
  })
  http.addHook('onSend', async (request, reply, sent) => {
    if (payloads.has(request) && reply.statusCode < 400) {
      check(request, () => assert.deepEqual(JSON.parse(String(sent)), payloads.get(request)))
    }
    return sent
  })
  return () => {
    if (faults.length > 0) throw new AggregateError(faults, 'responses broke their contract')
  }
}
