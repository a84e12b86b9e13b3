import assert from 'node:assert/strict'
import { createServer as createPlainServer, type AddressInfo, type Server } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { createServer, getCACertificates, setDefaultCACertificates, type TlsOptions } from 'node:tls'
import { openPoster, postFromChild, type Poster } from '../../../../test/support/wires/open-poster.ts'
import { startRawServer, type RawServer } from '../../../../test/support/wires/raw-server.ts'
import { createSelfSigned } from '../../../../test/support/wires/self-signed.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
const trusted = createSelfSigned('localhost')
const expired = createSelfSigned('localhost', { until: '210101000000Z' })

describe('postJson over TLS', () => {
  const usual = getCACertificates('default')
  let poster: Poster
  before(() => {
    // Makes these certificates trusted, as if an authority had signed them.
    setDefaultCACertificates([...usual, trusted.cert, expired.cert])
    poster = openPoster()
  })
  after(() => {
    poster.close()
    setDefaultCACertificates(usual)
  })

  async function withServer(options: TlsOptions, check: (server: RawServer) => Promise<void>): Promise<void> {
    const server = await startRawServer((socket) => socket.write(OK), {
      server: createServer({ ...trusted, ...options }).on('tlsClientError', () => undefined),
    })
    try {
      await check(server)
    } finally {
      await server.close()
    }
  }

  async function assertRefused(options: TlsOptions, host = 'localhost'): Promise<void> {
    await withServer(options, async (server) => {
      const { error, statusCode } = await poster.post(`https://${host}:${server.port}/`)
      assert.deepEqual({ error, statusCode }, { error: 'tls_error', statusCode: null })
      // The request was not sent, neither encrypted nor in clear text.
      assert.equal(server.requests.length, 0)
    })
  }

  it('sends to a server with a valid certificate for its name', () =>
    withServer({}, async (server) => {
      for (let count = 0; count < 2; count += 1) {
        assert.equal((await poster.post(`https://localhost:${server.port}/`)).statusCode, 200)
      }
      assert.equal(server.connections.made, 1)
    }))

  it('accepts TLS 1.2 and 1.3', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      await withServer({ minVersion: version, maxVersion: version }, async (server) => {
        assert.equal((await poster.post(`https://localhost:${server.port}/`)).statusCode, 200)
      })
    }
  })

  it('rejects a certificate that no authority has signed', () => assertRefused(createSelfSigned('localhost')))

  it('rejects a certificate that has expired', () => assertRefused(expired))

  it('rejects a certificate of another host', async () => {
    await assertRefused({}, 'hook.localhost')
    await assertRefused({}, '127.0.0.1')
  })

  it('rejects versions before TLS 1.2', async () => {
    for (const version of ['TLSv1', 'TLSv1.1'] as const) {
      await assertRefused({ minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' })
    }
  })

  it('rejects a server that responds with plain HTTP to an https URL', async (test) => {
    const server = createPlainServer((socket) => socket.once('data', () => socket.write(OK)))
    test.after(() => void server.close())
    const port = await listen(server)
    assert.equal((await poster.post(`https://localhost:${port}/`)).error, 'tls_error')
  })

  it('rejects a server that requires a client certificate', () =>
    assertRefused({ requestCert: true, rejectUnauthorized: true, maxVersion: 'TLSv1.2' }))

  it('reports a reset if the handshake is cut off', async (test) => {
    const server = createPlainServer((socket) => socket.once('data', () => socket.destroy()))
    test.after(() => void server.close())
    const port = await listen(server)
    assert.equal((await poster.post(`https://localhost:${port}/`)).error, 'connection_reset')
  })

  it('ignores less strict settings in the environment', async () => {
    const lax = {
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      NODE_OPTIONS: '--tls-min-v1.0 --tls-cipher-list=DEFAULT@SECLEVEL=0',
    }
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    for (const [options, expected] of [
      [createSelfSigned('localhost'), 'null tls_error'],
      [old, 'null tls_error'],
      [{}, '200 null'],
    ] as const) {
      await withServer(options, async (server) => {
        assert.equal(await postFromChild(`https://localhost:${server.port}/`, lax, trusted.cert), expected)
      })
    }
  })
})

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return (server.address() as AddressInfo).port
}
