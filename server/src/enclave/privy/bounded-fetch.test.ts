import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { createBoundedFetch } from './bounded-fetch.ts'

test('a response of the enclave that is nested very deeply is an error, and any other is returned', async () => {
  let body = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
  const server = createServer((_request, response) => response.end(body))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { fetch, close } = createBoundedFetch(url)
  await assert.rejects(fetch(`${url}/v1/policies`), /nested too deeply/)
  body = '{"rules":[{"name":"[[["}]}'
  assert.deepEqual(await (await fetch(`${url}/v1/policies`)).json(), { rules: [{ name: '[[[' }] })
  close()
  server.closeAllConnections()
  await new Promise((resolve) => {
    server.close(resolve)
  })
})
