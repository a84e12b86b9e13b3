import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { BodyTooLong, readBody } from './read-body.ts'

const BYTES_MAX = 1_000

describe('readBody', () => {
  let server: Server
  let url: string
  /** Resolves when the connection of the endless response is closed. */
  const closed = Promise.withResolvers<void>()

  before(async () => {
    server = createServer((request, response) => {
      const size = Number(request.url?.slice(1))
      if (Number.isInteger(size)) {
        response.end('x'.repeat(size))
        return
      }
      response.on('close', () => closed.resolve())
      const writeMore = (): void => {
        while (!response.destroyed && response.write('x'.repeat(100))) continue
      }
      response.on('drain', writeMore)
      writeMore()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  const sources = {
    fetch: async (path: string) => (await fetch(`${url}${path}`)).body,
    'node:http': async (path: string) => {
      const [response] = (await once(get(`${url}${path}`, { agent: false }), 'response')) as [IncomingMessage]
      return response
    },
  }
  for (const [name, open] of Object.entries(sources)) {
    test(`reads a body of ${name} that is as long as allowed, and an empty one`, async () => {
      assert.equal((await readBody(await open(`/${BYTES_MAX}`), BYTES_MAX)).toString(), 'x'.repeat(BYTES_MAX))
      assert.equal((await readBody(await open('/0'), BYTES_MAX)).length, 0)
    })

    test(`throws for a body of ${name} that is one byte longer`, async () => {
      await assert.rejects(readBody(await open(`/${BYTES_MAX + 1}`), BYTES_MAX), BodyTooLong)
    })
  }

  test('ends the connection of a response that never ends', async () => {
    await assert.rejects(readBody(await sources['node:http']('/endless'), BYTES_MAX), BodyTooLong)
    await closed.promise
  })

  test('a response without a body is empty', async () => {
    assert.equal((await readBody(null, BYTES_MAX)).length, 0)
  })
})
