import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { agreedVersion, parseMessage, protocolHeaders } from './message.ts'
import { readEvents } from './read-events.ts'
import { readLines } from './read-lines.ts'

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

describe('messages of the bridge', () => {
  test('a line that is no single message is rejected', () => {
    for (const line of ['', 'x', '[]', '[{"jsonrpc":"2.0","method":"a"}]', '"a"', 'null', '7']) {
      assert.equal(parseMessage(line), null, line)
    }
    assert.deepEqual(parseMessage('{"jsonrpc":"2.0","method":"a"}'), { id: null, method: 'a', params: {} })
    assert.equal(parseMessage('{"id":0,"method":"a"}')?.id, 0)
  })

  test('a client of version 2026-07-28 gets the headers of its message', () => {
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }
    const message = { id: 1, method: 'tools/call', params: { name: 'send_payment', _meta: meta } }
    assert.deepEqual(protocolHeaders(message, '2025-11-25'), {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'send_payment',
    })
    const odd = protocolHeaders({ ...message, params: { name: 'zahl\u00fc\n', _meta: meta } }, null)
    assert.equal(odd['mcp-name'], `=?base64?${Buffer.from('zahl\u00fc\n').toString('base64')}?=`)
  })

  test('an earlier client gets the version that was agreed on', () => {
    const message = { id: 1, method: 'tools/list', params: {} }
    assert.deepEqual(protocolHeaders(message, null), {})
    const agreed = agreedVersion('{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}')
    assert.deepEqual(protocolHeaders(message, agreed), { 'mcp-protocol-version': '2025-11-25' })
  })

  test('lines are found in chunks of any size, and an endless line is dropped', async () => {
    const text = 'one\r\n\n{"two":"é"}\nlast'
    for (const size of [1, 2, 3, 7, 100]) {
      const bytes = Buffer.from(text)
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      )
      assert.deepEqual(await collect(readLines(Readable.from(chunks), 100)), ['one', '{"two":"é"}', 'last'])
    }
    const long = Readable.from([Buffer.from('x'.repeat(11)), Buffer.from('y\nok\n')])
    assert.deepEqual(await collect(readLines(long, 10)), [null, 'ok'])
  })

  test('events are found in chunks of any size', async () => {
    const text = ': ping\n\nevent: message\r\ndata: {"a":"é"}\r\n\r\ndata: 1\ndata: 2\n\n'
    const bytes = Buffer.from(text)
    for (const size of [1, 2, 5, 200]) {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.subarray(at, at + size))
          controller.close()
        },
      })
      assert.deepEqual(await collect(readEvents(body)), ['{"a":"é"}', '1\n2'], `chunks of ${size}`)
    }
  })
})
