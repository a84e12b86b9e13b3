import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { hang, PARAMS, startFakeApi, type FakeApi } from '../test/fake-api.ts'
import { Bursar } from './main.ts'

const MIB = Buffer.alloc(1024 * 1024, ' ')

describe('the bounds of the client', () => {
  let api: FakeApi
  before(async () => {
    api = await startFakeApi()
  })
  afterEach(() => api.reset())
  after(() => api.close())

  for (const baseUrl of [
    'http://bursar.example.com',
    'http://10.0.0.1:4100',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'ftp://localhost',
  ]) {
    test(`the credential is never sent to ${baseUrl}`, () => {
      assert.throws(() => new Bursar({ baseUrl, apiKey: 'svc_test_1' }), /must be an https address/)
    })
  }

  for (const baseUrl of [
    'https://bursar.example.com',
    'http://localhost:4100',
    'http://127.0.0.1:1',
    'http://[::1]:1',
  ]) {
    test(`${baseUrl} may be used`, () => void new Bursar({ baseUrl, apiKey: 'svc_test_1' }))
  }

  test('a response without an end is cut off, and the payment may have been made', async () => {
    let chunks = 0
    api.script(({ response, work }) => {
      work()
      response.writeHead(201, { 'content-type': 'application/json' })
      const write = (): void => {
        chunks += 1
        if (!response.destroyed) response.write(MIB, write)
      }
      write()
    })
    await assert.rejects(api.bursar.payments.create(PARAMS), {
      name: 'ConnectionError',
      message: /more than 67108864 bytes/,
      outcome: 'unknown',
      attempts: 1,
    })
    assert.ok(chunks < 200, `${chunks} MiB were sent`)
  })

  test('a response that begins and does not go on ends at the time limit', async () => {
    api.script(({ response, endTimers }) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.write('{"account_slug":', () => setImmediate(endTimers))
    }, hang())
    await assert.rejects(api.bursar.me({ retriesMax: 1 }), { name: 'TimeoutError', attempts: 2 })
  })
})
