import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { createClock } from '../clock.ts'
import { fetchResource, type ResourceAnswer } from './fetch-resource.ts'
import { openOutbound } from './open-outbound.ts'

const BYTES_MAX = 64 * 1_024
const TEXT = Buffer.from('{"goods":"é✓"}'.repeat(500))
const NOISE = randomBytes(20_000)
/** Decodes to 50 MiB of zeros. */
const BOMB = Buffer.alloc(50 * 1_024 * 1_024)
/** A gzip member without content. Each one costs time, and nothing comes out. */
const NOTHING = gzipSync(Buffer.alloc(0))
const EMPTY_MEMBERS = Buffer.concat(Array.from({ length: 10_000 }, () => NOTHING))

interface Case {
  readonly encoding: string
  readonly sent: Buffer
  readonly body: Buffer
  readonly error?: string
  readonly isTruncated?: boolean
  /** Whether the header is kept, because the body is as it was sent. */
  readonly isKept?: boolean
}

const CASES: Readonly<Record<string, Case>> = {
  gzip: { encoding: 'gzip', sent: gzipSync(TEXT), body: TEXT },
  'x-gzip, in capitals': { encoding: 'X-GZIP', sent: gzipSync(NOISE), body: NOISE },
  deflate: { encoding: 'deflate', sent: deflateSync(TEXT), body: TEXT },
  'deflate without the zlib format': { encoding: 'deflate', sent: deflateRawSync(TEXT), body: TEXT },
  br: { encoding: 'br', sent: brotliCompressSync(TEXT), body: TEXT },
  'two encodings': { encoding: 'gzip, br', sent: brotliCompressSync(gzipSync(TEXT)), body: TEXT },
  'an encoding and none': { encoding: 'identity, gzip,', sent: gzipSync(TEXT), body: TEXT },
  'two members of gzip': {
    encoding: 'gzip',
    sent: Buffer.concat([gzipSync('a'), gzipSync('b')]),
    body: Buffer.from('ab'),
  },
  'bytes behind the end of gzip': {
    encoding: 'gzip',
    sent: Buffer.concat([gzipSync(TEXT), Buffer.of(0, 0)]),
    body: TEXT,
  },
  nothing: { encoding: 'gzip', sent: Buffer.alloc(0), body: Buffer.alloc(0), isKept: true },
  'an empty text': { encoding: 'gzip', sent: NOTHING, body: Buffer.alloc(0) },
  'no encoding': { encoding: 'identity', sent: TEXT, body: TEXT, isKept: true },
  'an unknown encoding': { encoding: 'zstd', sent: NOISE, body: NOISE, isKept: true },
  'a known and an unknown encoding': {
    encoding: 'zstd, gzip',
    sent: gzipSync(NOISE),
    body: gzipSync(NOISE),
    isKept: true,
  },
  'three encodings': { encoding: 'gzip, gzip, gzip', sent: NOISE, body: NOISE, isKept: true },
  'a plain text that is called gzip': { encoding: 'gzip', sent: TEXT, body: TEXT },
  'what is not deflate': {
    ...{ encoding: 'deflate', sent: TEXT, body: TEXT },
    ...{ error: 'invalid_response', isTruncated: true, isKept: true },
  },
  'what is not br': {
    ...{ encoding: 'br', sent: TEXT, body: TEXT },
    ...{ error: 'invalid_response', isTruncated: true, isKept: true },
  },
  'what is not deflate, in br': {
    ...{ encoding: 'deflate, br', sent: brotliCompressSync(TEXT), body: brotliCompressSync(TEXT) },
    ...{ error: 'invalid_response', isTruncated: true, isKept: true },
  },
  ...Object.fromEntries(
    [
      ['gzip', gzipSync(NOISE, { level: 0 })],
      ['deflate', deflateSync(NOISE, { level: 0 })],
      ['br', brotliCompressSync(NOISE, { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } })],
    ].map(([encoding, sent]) => [
      `${String(encoding)} that ends too early`,
      {
        ...{
          encoding: String(encoding),
          sent: Buffer.from(sent ?? '').subarray(0, 15_000),
          body: NOISE.subarray(0, 10_000),
        },
        ...{ error: 'invalid_response', isTruncated: true },
      },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries({
      'gzip, a bomb': { encoding: 'gzip', sent: gzipSync(BOMB) },
      'deflate, a bomb': { encoding: 'deflate', sent: deflateSync(BOMB) },
      'br, a bomb': {
        encoding: 'br',
        sent: brotliCompressSync(BOMB, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
      },
      'a bomb in a bomb': { encoding: 'gzip, gzip', sent: gzipSync(gzipSync(BOMB)) },
    }).map(([what, sent]) => [what, { ...sent, body: Buffer.alloc(BYTES_MAX), isTruncated: true }]),
  ),
  'a body in which nothing is, again and again': {
    ...{ encoding: 'gzip', sent: EMPTY_MEMBERS },
    ...{ body: EMPTY_MEMBERS.subarray(0, BYTES_MAX), isTruncated: true, isKept: true },
  },
  'a body in which nothing is, again and again, twice': {
    ...{ encoding: 'gzip, gzip', sent: gzipSync(EMPTY_MEMBERS) },
    ...{ body: gzipSync(EMPTY_MEMBERS), isTruncated: true, isKept: true },
  },
}

describe('the body of a response', () => {
  const rules = { allowLoopback: true, ownOrigins: [], contact: 'https://pay.example.com' }
  const outbound = openOutbound({ policy: rules, clock: createClock() })
  let server: Server
  let respond: (response: ServerResponse) => void
  before(async () => {
    server = createServer((_, response) => respond(response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  after(() => {
    outbound.close()
    server.closeAllConnections()
    server.close()
  })

  async function get(method = 'GET', timeoutMs = 20_000): Promise<ResourceAnswer> {
    const { port } = server.address() as AddressInfo
    const limits = { timeoutMs, responseBytesMax: BYTES_MAX, redirectsMax: 0 }
    return await fetchResource(outbound, {
      onEnd: () => undefined,
      url: `http://127.0.0.1:${port}/`,
      method,
      headers: {},
      body: null,
      ...limits,
    })
  }

  for (const [what, { encoding, sent, body, error = null, isTruncated = false, isKept = false }] of Object.entries(
    CASES,
  )) {
    test(`that is encoded: ${what}`, async () => {
      respond = (response) => {
        response.writeHead(200, { 'content-encoding': encoding, 'content-length': sent.length, etag: 'a' }).end(sent)
      }
      const { answer, ...got } = await get()
      assert.deepEqual([answer.error, got.isTruncated], [error, isTruncated])
      const length = answer.responseBody?.length ?? 0
      if (error === null) assert.equal(length, body.length)
      // Not every byte before the fault can be decoded.
      else assert.ok(length >= body.length, `${length} bytes`)
      assert.ok(answer.responseBody?.subarray(0, body.length).equals(body))
      const { 'content-encoding': kept, 'content-length': bytes, etag } = answer.headers
      assert.deepEqual([kept, bytes, etag], isKept ? [encoding, String(sent.length), 'a'] : [undefined, undefined, 'a'])
    })
  }

  test('that arrives in small pieces is decoded', async () => {
    for (const [encoding, sent] of [
      ['gzip', gzipSync(TEXT)],
      ['deflate', deflateRawSync(TEXT)],
      ['br', brotliCompressSync(TEXT)],
    ] as const) {
      respond = (response) => {
        response.writeHead(200, { 'content-encoding': encoding })
        const write = (index: number): void => {
          if (index >= sent.length) response.end()
          else response.write(sent.subarray(index, index + 1), () => write(index + 1))
        }
        write(0)
      }
      assert.ok((await get()).answer.responseBody?.equals(TEXT))
    }
  })

  test('that breaks off is decoded as far as it arrived', async () => {
    for (const [encoding, sent] of [
      ['gzip', gzipSync(NOISE)],
      ['gzip, gzip', gzipSync(gzipSync(NOISE))],
    ] as const) {
      respond = (response) => {
        response.writeHead(200, { 'content-encoding': encoding, 'content-length': sent.length })
        response.write(sent.subarray(0, 15_000), () => response.destroy())
      }
      const { answer, isTruncated } = await get()
      assert.deepEqual([answer.error, isTruncated], ['connection_reset', true])
      const { responseBody } = answer
      assert.ok(responseBody !== null && responseBody.length > 10_000)
      assert.ok(responseBody.equals(NOISE.subarray(0, responseBody.length)))
    }
  })

  test('that cannot be decoded is waited for to its end, or to the end of the time', async () => {
    respond = (response) => {
      const sent = deflateSync(NOISE, { level: 0 })
      response.writeHead(200, { 'content-encoding': 'deflate' }).write(Buffer.concat([sent.subarray(0, 10_000), TEXT]))
    }
    const { answer } = await get('GET', 500)
    assert.deepEqual([answer.error, answer.isComplete], ['timeout', false])
    assert.ok(answer.responseBody?.subarray(0, 9_000).equals(NOISE.subarray(0, 9_000)))
  })

  test('that breaks off behind the end of its encoding is not complete', async () => {
    const sent = gzipSync(TEXT)
    respond = (response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': sent.length + 1 })
      response.write(sent, () => response.destroy())
    }
    const { answer } = await get()
    assert.deepEqual(
      [answer.error, answer.isComplete, answer.responseBody?.equals(TEXT)],
      ['connection_reset', false, true],
    )
  })

  test('that is missing, as in the response to HEAD, is not decoded', async () => {
    respond = (response) => response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': 100 }).end()
    const { answer } = await get('HEAD')
    assert.deepEqual([answer.error, answer.isComplete, answer.headers['content-length']], [null, true, '100'])
  })
})
