import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { json } from 'node:stream/consumers'
import { after, before, beforeEach, test } from 'node:test'
import { parseTransaction } from 'viem/utils'
import type { Hex } from 'viem'
import { makeDataDir, removeDataDir, startTestEnclave } from '../../test/support/test-enclave.ts'
import type { TestEnclave } from '../../test/support/test-enclave.ts'
import { openGrant, transfer } from '../../test/support/test-grant.ts'
import { waitFor } from '../../../test/support/wait-for.ts'

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** What the node does with a transaction: accept it, close the connection, or reject it with this message. */
type Taking = 'take' | 'cut' | { readonly refuse: string }

let taking: Taking
let received: Hex[]
let node: Server
let enclave: TestEnclave

before(async () => {
  node = createServer((request, response) => {
    void json(request).then((body) => {
      const calls = (Array.isArray(body) ? body : [body]) as Call[]
      if (taking === 'cut' && calls.some((call) => call.method === 'eth_sendRawTransaction')) {
        response.destroy()
        return
      }
      const answers = calls.map(answerCall)
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
    })
  }).listen(0, '127.0.0.1')
  await once(node, 'listening')
  const address = node.address()
  assert.ok(typeof address === 'object' && address !== null)
  enclave = await startTestEnclave({ dataDir: await makeDataDir(), rpcUrl: `http://127.0.0.1:${address.port}` })
})

beforeEach(() => {
  taking = 'take'
  received = []
})

after(async () => {
  await enclave.stop()
  node.closeAllConnections()
  node.close()
  await removeDataDir(enclave.dataDir)
})

/** Responds like a node that mines nothing, so no transaction has a receipt. */
function answerCall({ id, method, params }: Call): object {
  const results: Readonly<Record<string, unknown>> = {
    eth_estimateGas: '0xc350',
    eth_getBalance: '0xde0b6b3a7640000',
    eth_getTransactionCount: '0x0',
    eth_getTransactionReceipt: null,
    eth_getBlockByNumber: { number: '0x1', hash: `0x${'11'.repeat(32)}` },
    eth_sendRawTransaction: `0x${'22'.repeat(32)}`,
  }
  if (method === 'eth_sendRawTransaction') {
    if (typeof taking === 'object') return { jsonrpc: '2.0', id, error: { code: -32000, message: taking.refuse } }
    received.push(String(params[0]) as Hex)
  }
  return { jsonrpc: '2.0', id, result: results[method] }
}

const transferSelfPaid: typeof transfer = async (on, grant, usdc, input) =>
  await transfer(on, grant, usdc, { ...input, sponsor: false })

const findStatus = async (id: string) => (await enclave.client.transactions().get(id)).status

test('if the chain rejects a transaction, no record is left, and its nonce is used for the next one', async () => {
  const grant = await openGrant(enclave, USDC)
  const again = { referenceId: randomUUID(), idempotencyKey: randomUUID() }
  taking = { refuse: 'intrinsic gas too low' }
  const refusal = {
    status: 400,
    error: {
      error: 'Transaction creation failed. Details: intrinsic gas too low',
      code: 'transaction_broadcast_failure',
    },
  }
  await assert.rejects(transferSelfPaid(enclave, grant, USDC, again), refusal)
  taking = 'take'
  await assert.rejects(transferSelfPaid(enclave, grant, USDC, again), refusal)
  assert.deepEqual(received, [])
  const retried = await transferSelfPaid(enclave, grant, USDC, { ...again, idempotencyKey: randomUUID() })
  assert.equal(retried.reference_id, again.referenceId)
  assert.equal(parseTransaction(received[0] ?? '0x').nonce ?? 0, 0)
})

test('if the chain does not respond, the transaction is accepted, and sent again unchanged', async () => {
  const grant = await openGrant(enclave, USDC)
  taking = 'cut'
  const { transaction_id } = await transferSelfPaid(enclave, grant, USDC)
  taking = 'take'
  await transferSelfPaid(enclave, grant, USDC)
  await waitFor('the first transaction to be broadcast', async () =>
    received.some((raw) => (parseTransaction(raw).nonce ?? 0) === 0),
  )
  assert.deepEqual(new Set(received.map((raw) => parseTransaction(raw).nonce ?? 0)), new Set([0, 1]))
  assert.equal(await findStatus(transaction_id), 'broadcasted')
})

test('a transaction without a receipt whose nonce was used by another one has failed', async () => {
  const grant = await openGrant(enclave, USDC)
  const { transaction_id } = await transferSelfPaid(enclave, grant, USDC)
  taking = { refuse: 'nonce too low' }
  await waitFor('the transaction to fail', async () => (await findStatus(transaction_id)) === 'failed')
})
