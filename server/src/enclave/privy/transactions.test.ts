import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { EnclaveUnavailable } from '../errors.ts'
import {
  HASTY_MS,
  sendJson,
  startStubEnclave,
  type StubAnswer,
  type StubEnclave,
} from '../../../../test/support/wires/stub-enclave.ts'

const WORKSPACE_ID = 'acc_1'
const HASH = `0x${'ab'.repeat(32)}`
const OPERATION = `0x${'cd'.repeat(32)}`
const FOUND = { transactionId: 'tx1', txHash: null, userOperationHash: null, failure: null }

let stub: StubEnclave
let enclave: ReturnType<StubEnclave['open']>
before(async () => {
  stub = await startStubEnclave()
  enclave = stub.open()
})
beforeEach(() => {
  stub.requests.length = 0
})
after(() => {
  enclave.close()
  stub.close()
})

function transaction(change: object = {}): object {
  return {
    id: 'tx1',
    wallet_id: 'w1',
    caip2: 'eip155:1',
    status: 'broadcasted',
    transaction_hash: null,
    created_at: 1,
    reference_id: 'pay_1',
    ...change,
  }
}

function answer(status: number, body: unknown): StubAnswer {
  return (response) => sendJson(response, status, body)
}

describe('awaitTxHash', () => {
  it('polls until the transaction has a hash, even if some requests fail', async () => {
    const answers = [
      answer(200, transaction({ status: 'pending' })),
      answer(404, { error: 'Not found' }),
      answer(503, {}),
      ((response) => response.destroy()) satisfies StubAnswer,
      answer(200, transaction()),
    ]
    stub.answer((response, request) =>
      (answers.shift() ?? answer(200, transaction({ transaction_hash: HASH })))(response, request),
    )
    assert.equal(await enclave.awaitTxHash('tx1', { timeoutMs: 10_000, workspaceId: WORKSPACE_ID }), HASH)
    assert.equal(stub.requests.length, 6)
    assert.ok(stub.requests.every(({ path }) => path === '/v1/transactions/tx1'))
  })

  it('waits longer each time, and stops at its time limit', async () => {
    stub.answer(answer(200, transaction()))
    assert.equal(await enclave.awaitTxHash('tx1', { timeoutMs: 5_000, workspaceId: WORKSPACE_ID }), null)
    // The requests are made after 400, 1,040, 2,064 and 3,702 ms, or later on a busy machine.
    assert.ok(stub.requests.length >= 1 && stub.requests.length <= 4, `asked ${stub.requests.length} times`)
  })

  it('stops at its time limit if the enclave hangs', async () => {
    stub.answer(() => undefined)
    const hasty = stub.open({ timeoutMs: HASTY_MS })
    assert.equal(await hasty.awaitTxHash('tx1', { timeoutMs: 5_000, workspaceId: WORKSPACE_ID }), null)
    hasty.close()
    assert.ok(stub.requests.length >= 1)
  })

  for (const status of ['failed', 'provider_error', 'execution_reverted', 'replaced']) {
    it(`stops at once for a transaction that is ${status}`, async () => {
      stub.answer(answer(200, transaction({ status })))
      assert.equal(await enclave.awaitTxHash('tx1', { timeoutMs: 10_000, workspaceId: WORKSPACE_ID }), null)
      assert.equal(stub.requests.length, 1)
    })
  }
})

describe('findTransfer', () => {
  it('asks by the reference id, with both credentials', async () => {
    stub.answer(answer(200, { transactions: [] }))
    assert.equal((await enclave.findTransfer('pay_1&x=/ü', WORKSPACE_ID)).transfer, null)
    const [request] = stub.requests
    assert.equal(`${request?.method} ${request?.path}`, 'GET /v1/transactions?reference_id=pay_1%26x%3D%2F%C3%BC')
    assert.equal(request?.headers['privy-app-id'], 'app-test')
    assert.equal(request.headers.authorization, `Basic ${Buffer.from('app-test:APP-SECRET').toString('base64')}`)
  })

  it('finds a transfer with and without a hash', async () => {
    stub.answer(answer(200, { transactions: [transaction({ transaction_hash: HASH, status: 'confirmed' })] }))
    assert.deepEqual((await enclave.findTransfer('pay_1', WORKSPACE_ID)).transfer, { ...FOUND, txHash: HASH })
    stub.answer(answer(200, { transactions: [transaction({ user_operation_hash: OPERATION })] }))
    assert.deepEqual((await enclave.findTransfer('pay_1', WORKSPACE_ID)).transfer, {
      ...FOUND,
      userOperationHash: OPERATION,
    })
  })

  it('names the failures that the provider reports, and no other status', async () => {
    for (const [status, failure] of [
      ['failed', 'failed'],
      ['provider_error', 'failed'],
      ['replaced', 'replaced'],
      ['execution_reverted', 'reverted'],
      ['finalized', null],
      ['constructor', null],
    ] as const) {
      stub.answer(answer(200, { transactions: [transaction({ status })] }))
      assert.deepEqual((await enclave.findTransfer('pay_1', WORKSPACE_ID)).transfer, { ...FOUND, failure })
    }
  })

  it('prefers the transfer that has a hash', async () => {
    stub.answer(answer(200, { transactions: [transaction(), transaction({ id: 'tx2', transaction_hash: HASH })] }))
    assert.equal((await enclave.findTransfer('pay_1', WORKSPACE_ID)).transfer?.transactionId, 'tx2')
  })

  const NO_ANSWER: [string, StubAnswer][] = [
    ['a 404', answer(404, { error: 'Not found' })],
    ['a 401', answer(401, { error: 'Invalid app ID or app secret.' })],
    ['a 400', answer(400, { error: 'Validation error', code: 'invalid_data' })],
    ['a 429', answer(429, {})],
    ['a 500', answer(500, {})],
    ['a success without a list', answer(200, {})],
    ['a success that is no JSON', (response) => void response.writeHead(200).end('<html>')],
    ['another payment in the list', answer(200, { transactions: [transaction({ reference_id: 'pay_2' })] })],
    ['an entry without an id', answer(200, { transactions: [transaction({ id: undefined })] })],
    ['a cut connection', (response) => response.destroy()],
    ['half an answer', (response) => void response.writeHead(200).write('{')],
  ]
  for (const [name, given] of NO_ANSWER) {
    it(`treats ${name} as unknown`, async () => {
      stub.answer(given)
      await assert.rejects(enclave.findTransfer('pay_1', WORKSPACE_ID), EnclaveUnavailable)
      assert.equal(stub.requests.length, 1)
    })
  }
})
