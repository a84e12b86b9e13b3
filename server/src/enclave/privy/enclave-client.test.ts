import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startFakeServer } from '../../../../test/support/wires/fake-server.ts'
import { createClock } from '../../lib/clock.ts'
import { createLogger } from '../../lib/logger.ts'
import { openPools } from '../../lib/pools.ts'
import { EnclaveUnavailable } from '../errors.ts'
import { createEnclaveClient } from './enclave-client.ts'

test('a response of the enclave that is nested very deeply is an error, and any other is returned', async (t) => {
  let body = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
  const server = await startFakeServer((_request, _body, response) => response.end(body))
  t.after(() => server.close())
  const options = { apiUrl: server.url, appId: 'app', appSecret: 'secret', timeoutMs: 20_000 }
  const deps = { clock: createClock(), logger: createLogger('silent'), places: openPools().lookUps, proxy: null }
  const client = createEnclaveClient(options, deps)
  t.after(() => client.close())
  const read = async (): Promise<unknown> => (await client.getJson('reading', '/v1/policies')).body
  await assert.rejects(read(), (error) => error instanceof EnclaveUnavailable && /nested/.test(String(error.cause)))
  body = '{"rules":[{"name":"[[["}]}'
  assert.deepEqual(await read(), { rules: [{ name: '[[[' }] })
})
