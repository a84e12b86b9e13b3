import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { formatRequestForAuthorizationSignature, type WalletApiRequestSignatureInput } from '@privy-io/node'
import { encodeFunctionData, erc20Abi } from 'viem'
import { parseAddress, type Address } from '../values/address.ts'
import { microUsdc } from '../values/money.ts'
import { EnclaveUnavailable } from './errors.ts'
import type { TransferOrder } from './send-transfer.ts'
import { generateSignerKey } from './signer-key.ts'
import {
  sendJson,
  signedObject,
  startStubEnclave,
  STUB_APP_SECRET,
  type StubAnswer,
  type StubEnclave,
} from '../../../test/support/stub-enclave.ts'

const TIMEOUT_MS = 300
const HASH = `0x${'ab'.repeat(32)}`
const key = generateSignerKey()

function address(text: string): Address {
  const parsed = parseAddress(text)
  assert.ok(parsed)
  return parsed
}

function order(change: Partial<TransferOrder> = {}): TransferOrder {
  return {
    enclaveWalletId: 'w00000000000000000000001',
    signerPrivateKey: key.privateKey,
    chainId: 84532,
    contract: address('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'),
    to: address('0x52908400098527886e0f7030069857d2e4169ee7'),
    amountMicro: microUsdc(1_500_000n),
    referenceId: 'pay_1',
    attemptKey: 'attempt-1',
    expiresAt: new Date('2100-01-01T00:00:00.000Z'),
    ...change,
  }
}

function accept(data: object): StubAnswer {
  return (response) => sendJson(response, 200, { method: 'eth_sendTransaction', data })
}

function refuse(status: number, body: unknown): StubAnswer {
  return (response) => sendJson(response, status, body)
}

let stub: StubEnclave
let enclave: ReturnType<StubEnclave['open']>
before(async () => {
  stub = await startStubEnclave()
  enclave = stub.open(TIMEOUT_MS)
})
after(() => {
  enclave.close()
  stub.close()
})

describe('the request of sendTransfer', () => {
  it('is the sponsored call of transfer, each member explicit, with key and expiry', async () => {
    stub.answer(accept({ transaction_id: 'tx1', hash: '' }))
    await enclave.sendTransfer(order())
    const request = stub.requests.at(-1)
    assert.equal(`${request?.method} ${request?.path}`, 'POST /v1/wallets/w00000000000000000000001/rpc')
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [order().to, 1_500_000n] })
    assert.deepEqual(request?.body, {
      method: 'eth_sendTransaction',
      chain_type: 'ethereum',
      caip2: 'eip155:84532',
      sponsor: true,
      reference_id: 'pay_1',
      params: { transaction: { to: order().contract, data, value: '0x0', chain_id: 84532 } },
    })
    assert.equal(request.headers['privy-idempotency-key'], 'attempt-1')
    assert.equal(request.headers['privy-request-expiry'], String(Date.UTC(2100, 0, 1)))
    assert.equal(request.headers.authorization, `Basic ${Buffer.from('app-test:APP-SECRET').toString('base64')}`)
  })

  for (const path of ['', '/privy']) {
    it(`carries the signer's signature over exactly what was sent, at the address "${path}"`, async () => {
      const own = stub.open(TIMEOUT_MS, path)
      stub.answer(accept({ transaction_id: 'tx1', hash: '' }))
      await own.sendTransfer(order())
      own.close()
      const request = stub.requests.at(-1)
      assert.ok(request)
      const signed = signedObject(stub.apiUrl, request) as WalletApiRequestSignatureInput
      const payload = formatRequestForAuthorizationSignature(signed)
      const spki = createPublicKey({ key: Buffer.from(key.publicKey, 'base64'), format: 'der', type: 'spki' })
      const signature = Buffer.from(String(request.headers['privy-authorization-signature']), 'base64')
      assert.ok(verify('sha256', payload, { key: spki, dsaEncoding: 'der' }, signature))
    })
  }

  it('goes over one connection again and again', async () => {
    const own = stub.open()
    stub.answer(accept({ transaction_id: 'tx1', hash: '' }))
    stub.sockets.clear()
    for (let i = 0; i < 5; i++) await own.sendTransfer(order())
    own.close()
    assert.equal(stub.sockets.size, 1)
  })

  it('is not sent when it has expired already', async () => {
    const sent = stub.requests.length
    const error = await unavailable(enclave.sendTransfer(order({ expiresAt: new Date(0) })))
    assert.equal(error.code, 'request_expired')
    assert.equal(stub.requests.length, sent)
  })

  it('is not sent with a key that is none, and the key is not repeated', async () => {
    await assert.rejects(enclave.sendTransfer(order({ signerPrivateKey: 'SIGNER-SECRET' })), (error: Error) => {
      return error instanceof TypeError && !error.stack?.includes('SIGNER-SECRET')
    })
    await assert.rejects(enclave.sendTransfer(order({ amountMicro: microUsdc(0n) })), RangeError)
  })
})

async function unavailable(promise: Promise<unknown>): Promise<EnclaveUnavailable> {
  const error: unknown = await promise.then(
    (answer) => assert.fail(`it answered ${JSON.stringify(answer)}`),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof EnclaveUnavailable, String(error))
  return error
}

const ACCEPTED: [name: string, data: object, txHash: string | null][] = [
  [
    'a sponsored send without a hash',
    { transaction_id: 'tx1', hash: '', user_operation_hash: '0x12', caip2: 'eip155:84532' },
    null,
  ],
  ['a send with its hash', { transaction_id: 'tx1', hash: HASH, caip2: 'eip155:84532' }, HASH],
  ['a hash that is null', { transaction_id: 'tx1', hash: null }, null],
]

const POLICY = { error: 'RPC request denied due to policy violation', code: 'policy_violation' }
const WRONG_SIGNATURE = {
  error:
    'No valid authorization signatures were provided. Your payload may be malformed or your signing keys may be incorrect or expired.',
  code: 'invalid_data',
}
const REFUSED: [name: string, status: number, body: unknown, code: string][] = [
  ['a policy violation', 400, POLICY, 'policy_violation'],
  [
    'a failed broadcast',
    400,
    { error: 'Transaction creation failed', code: 'transaction_broadcast_failure' },
    'transaction_broadcast_failure',
  ],
  [
    'too little gas credit',
    400,
    { error: 'Insufficient gas credits balance', code: 'insufficient_funds' },
    'insufficient_funds',
  ],
  ['a malformed request', 400, { error: 'Validation error', code: 'invalid_data' }, 'invalid_data'],
  [
    'a malformed reference id',
    400,
    { error: 'reference_id must be at most 64 characters', code: 'invalid_data' },
    'invalid_data',
  ],
  ['a 400 without a code', 400, { error: 'No' }, 'bad_request'],
  ['a 400 without JSON', 400, 'No', 'bad_request'],
  ['a wrong signature, whose sentence says "expired"', 401, WRONG_SIGNATURE, 'invalid_data'],
  ['a wrong signature without a code', 401, { error: WRONG_SIGNATURE.error }, 'unauthorized'],
  ['a feature that is off', 403, { error: 'Off', code: 'feature_not_enabled' }, 'feature_not_enabled'],
  ['a legacy schema error', 422, { error: 'Invalid' }, 'unprocessable'],
  ['a code that is no code', 400, { error: 'No', code: 'DROP TABLE\n' }, 'bad_request'],
]

const UNKNOWN: [name: string, answer: StubAnswer, code: string][] = [
  ['no answer', () => undefined, 'timeout'],
  ['half an answer', (response) => void response.writeHead(200, { 'content-length': 100 }).write('{'), 'timeout'],
  ['a connection cut before the answer', (response) => response.destroy(), 'econnreset'],
  [
    'a connection cut within the answer',
    (response) => response.writeHead(200, { 'content-length': 9 }).write('{', () => response.destroy()),
    'econnreset',
  ],
  ['an endless answer', (response) => void response.writeHead(200).end('x'.repeat(1024 * 1024 + 1)), 'no_answer'],
  ['a payment demand', refuse(402, { error: 'Pay' }), 'payment_failed'],
  ['an unknown wallet', refuse(404, { error: 'Not found' }), 'not_found'],
  ['bad credentials of ours', refuse(401, { error: 'Invalid app ID or app secret.' }), 'unauthorized'],
  ['a timeout of the enclave', refuse(408, { error: 'Timeout' }), 'unexpected_status'],
  ['a conflict', refuse(409, { error: 'Conflict', code: 'resource_conflict' }), 'resource_conflict'],
  ['a rate limit', refuse(429, { error: 'Too many requests.', code: 'too_many_requests' }), 'too_many_requests'],
  ['an internal error', refuse(500, { error: 'Oops' }), 'unexpected_status'],
  [
    'a gateway',
    (response) => void response.writeHead(502, { 'content-type': 'text/html' }).end('<html>'),
    'unexpected_status',
  ],
  ['an unavailable enclave', refuse(503, {}), 'unexpected_status'],
  ['a redirect', (response) => void response.writeHead(302, { location: '/' }).end(), 'unexpected_status'],
  ['an expired request, told by its sentence', refuse(401, { error: 'The request has expired' }), 'request_expired'],
  ['an expired request, told by its code', refuse(401, { error: 'No', code: 'request_expired' }), 'request_expired'],
  [
    'a taken reference id as 400',
    refuse(400, { error: 'reference_id must be unique', code: 'invalid_data' }),
    'invalid_data',
  ],
  ['a taken reference id as 422', refuse(422, { error: 'reference_id already exists' }), 'unprocessable'],
  ['a resource that exists', refuse(400, { error: 'No', code: 'resource_already_exists' }), 'resource_already_exists'],
  [
    'an idempotency key used with another body',
    refuse(400, {
      error:
        'Idempotency key was reused for a request with a new body. Please create a new idempotency key for the request.',
      code: 'invalid_data',
    }),
    'invalid_data',
  ],
  [
    'a success that is no JSON',
    (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
    'malformed_answer',
  ],
  [
    'a success that is a page',
    (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    'malformed_answer',
  ],
  ['a success without a transaction id', accept({ hash: HASH }), 'malformed_answer'],
  [
    'an error within a success',
    refuse(200, { method: 'eth_sendTransaction', error: { code: 'x', message: 'y' } }),
    'malformed_answer',
  ],
  ['a success of null', refuse(200, null), 'malformed_answer'],
]

describe('the answer of sendTransfer', () => {
  for (const [name, data, txHash] of ACCEPTED) {
    it(`is accepted for ${name}`, async () => {
      stub.answer(accept(data))
      assert.deepEqual(await enclave.sendTransfer(order()), { kind: 'accepted', transactionId: 'tx1', txHash })
    })
  }

  for (const [name, status, body, code] of REFUSED) {
    it(`is refused for ${name}`, async () => {
      stub.answer(refuse(status, body))
      const answer = await enclave.sendTransfer(order())
      assert.ok(answer.kind === 'refused')
      assert.equal(answer.code, code)
      assert.equal(
        answer.reason,
        typeof body === 'object' && body !== null && 'error' in body ? body.error : 'no reason given',
      )
    })
  }

  for (const [name, answer, code] of UNKNOWN) {
    it(`is not known after ${name}, asked for once`, async () => {
      stub.answer(answer)
      const sent = stub.requests.length
      const error = await unavailable(enclave.sendTransfer(order()))
      assert.equal(error.code, code)
      assert.equal(stub.requests.length, sent + 1)
    })
  }

  it('is not known when nobody listens', async () => {
    const gone = await startStubEnclave()
    gone.close()
    const nobody = gone.open()
    assert.equal((await unavailable(nobody.sendTransfer(order()))).code, 'econnrefused')
    nobody.close()
  })

  it('brings nothing secret into errors and logs', async () => {
    stub.answer(refuse(500, { error: 'Oops' }))
    const error = await unavailable(enclave.sendTransfer(order()))
    const signature = stub.requests.at(-1)?.headers['privy-authorization-signature']
    assert.ok(typeof signature === 'string' && signature.length > 60)
    const told = `${error.message} ${error.stack} ${JSON.stringify(error)} ${stub.log()}`
    assert.match(told, /500 unexpected_status/)
    for (const secret of [STUB_APP_SECRET, key.privateKey, signature]) assert.ok(!told.includes(secret))
  })

  it('cuts a long reason and takes its control characters out', async () => {
    stub.answer(refuse(400, { error: `a\n\u202eb${'c'.repeat(5_000)}` }))
    const answer = await enclave.sendTransfer(order())
    assert.ok(answer.kind === 'refused')
    assert.match(answer.reason, /^a bc+$/)
    assert.equal(answer.reason.length, 300)
  })
})
