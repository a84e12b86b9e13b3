import assert from 'node:assert/strict'
import { Ajv } from 'ajv'
import { test } from 'node:test'
import { addApi } from '../../server/src/api/add-api.ts'
import { addConsole } from '../../server/src/console/add-console.ts'
import { openHttp } from '../../server/src/http/open-http.ts'
import { openTestContext } from '../support/context/test-context.ts'

/** The parts of a request that can have a schema. A response has one for each status. */
const PARTS = ['body', 'querystring', 'params', 'headers'] as const

test('the schemas of all endpoints are valid, because the service compiles them without a check', async () => {
  const given = await openTestContext()
  const { context, config, clock } = given
  const http = openHttp(config, { clock, logger: context.logger })
  const schemas = new Map<string, unknown>()
  http.addHook('onRoute', function ({ method, url, schema = {} }) {
    const route = `${String(method)} ${url}`
    for (const part of PARTS) schemas.set(`${part} of ${route}`, schema[part])
    for (const [status, response] of Object.entries(Object(schema.response))) {
      schemas.set(`${status} of ${route}`, response)
    }
    for (const [name, named] of Object.entries(this.getSchemas())) schemas.set(name, named)
  })
  await addApi(http, context, config)
  await addConsole(http, context, config)
  await http.ready()
  await http.close()
  await given.close()

  const ajv = new Ajv({ strict: false })
  const found = [...schemas].filter(([, schema]) => schema !== undefined)
  const wrong = found.filter(([, schema]) => ajv.validateSchema(Object(schema)) !== true)
  assert.deepEqual(wrong, [])
  for (const name of ['Payment', 'body of POST /v1/agents', '200 of GET /console/session']) {
    assert.ok(
      found.some(([one]) => one === name),
      name,
    )
  }
})
