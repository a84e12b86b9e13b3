import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answerJson, startFakeServer } from '../../../test/support/wires/fake-server.ts'
import { callRpcBatch } from './call-rpc.ts'
import { postToNode } from './post-to-node.ts'

const TIMEOUT_MS = 5_000

test('requests that follow each other share a connection', async (t) => {
  const ports = new Set<number | undefined>()
  const node = await startFakeServer((request, _body, response) => {
    ports.add(request.socket.remotePort)
    answerJson(response, { result: '0x1' })
  })
  t.after(() => node.close())
  for (let count = 0; count < 3; count += 1)
    assert.deepEqual(await postToNode(node.url, {}, TIMEOUT_MS), { result: '0x1' })
  assert.equal(ports.size, 1)
})

test('a node that does not respond, or not with JSON, is an error', async (t) => {
  let isSilent = true
  const node = await startFakeServer((_request, _body, response) => {
    if (!isSilent) response.end('no JSON')
  })
  t.after(() => node.close())
  await assert.rejects(postToNode(node.url, {}, 50), /did not respond within 50 ms/)
  isSilent = false
  await assert.rejects(postToNode(node.url, {}, TIMEOUT_MS), SyntaxError)
})

test('the results of a batch are in the order of its calls, and a rejected call is an error', async (t) => {
  let answers: unknown = []
  const node = await startFakeServer((_request, _body, response) => answerJson(response, answers))
  t.after(() => node.close())
  const calls = ['first', 'second'].map((method) => ({ method, params: [] }))
  answers = [
    { id: 1, result: 'b' },
    { id: 0, result: 'a' },
  ]
  assert.deepEqual(await callRpcBatch(node.url, calls), ['a', 'b'])
  answers = [{ id: 0, result: 'a' }]
  await assert.rejects(callRpcBatch(node.url, calls), /second: the node's response is not an object/)
  answers = [
    { id: 0, result: 'a' },
    { id: 1, error: { message: 'no such method' } },
  ]
  await assert.rejects(callRpcBatch(node.url, calls), /second: no such method/)
  answers = { error: { message: 'no batches' } }
  await assert.rejects(callRpcBatch(node.url, calls), /not a list/)
})
