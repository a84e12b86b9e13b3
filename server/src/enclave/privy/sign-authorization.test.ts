import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { parseAddress, type Address } from '../../values/address.ts'
import { microUsdc } from '../../values/money.ts'
import { usdcDomain } from '../../values/transfer-authorization.ts'
import type { AuthorizationOrder, SigningAnswer } from '../enclave.ts'
import {
  HASTY_MS,
  ORDER_SIGNER,
  sendJson,
  STUB_APP_SECRET,
  startStubEnclave,
  type StubAnswer,
  type StubEnclave,
} from '../../../../test/support/wires/stub-enclave.ts'

const FROM = address('0x52908400098527886e0f7030069857d2e4169ee7')
const SELLER = address('0x8617e340b3d01fa5f11f306f4090fd50e238070d')
const USDC = address('0x036cbd53842c5426634e7929541ec2318f3dcf7e')
const SIGNATURE = `0x${'ab'.repeat(65)}`
const NONCE = `0x${'cd'.repeat(32)}` as const

let stub: StubEnclave
let enclave: ReturnType<StubEnclave['open']>
let hasty: typeof enclave
before(async () => {
  stub = await startStubEnclave()
  enclave = stub.open()
  hasty = stub.open({ timeoutMs: HASTY_MS })
})
after(() => {
  enclave.close()
  hasty.close()
  stub.close()
})

function address(text: string): Address {
  return parseAddress(text) ?? assert.fail(text)
}

function makeOrder(change: Partial<AuthorizationOrder> = {}): AuthorizationOrder {
  return {
    enclaveWalletId: 'w00000000000000000000001',
    signerPrivateKey: ORDER_SIGNER.privateKey,
    domain: usdcDomain(84532, USDC),
    authorization: {
      from: FROM,
      to: SELLER,
      valueMicro: microUsdc(10_000n),
      validAfterSeconds: 0n,
      validBeforeSeconds: 1_900_000_000n,
      nonce: NONCE,
    },
    form: 'ecdsa',
    attemptKey: 'attempt-1',
    expiresAt: new Date('2100-01-01T00:00:00.000Z'),
    ...change,
  }
}

function accept(signature: unknown): StubAnswer {
  const data = { signature, encoding: 'hex' }
  return (response) => sendJson(response, 200, { method: 'eth_signTypedData_v4', data })
}

function refuse(status: number, body: unknown): StubAnswer {
  return (response) => sendJson(response, status, body)
}

const TYPED_DATA = {
  domain: { name: 'USDC', version: '2', chainId: 84532, verifyingContract: USDC },
  types: {
    TransferWithAuthorization: [
      { name: 'from', type: 'address' },
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'validAfter', type: 'uint256' },
      { name: 'validBefore', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
    ],
  },
  primary_type: 'TransferWithAuthorization',
  message: { from: FROM, to: SELLER, value: '10000', validAfter: '0', validBefore: '1900000000', nonce: NONCE },
}

describe('the request of signAuthorization', () => {
  it('has the types of the rule, decimal numbers, a key and an expiry', async () => {
    stub.answer(accept(SIGNATURE))
    assert.deepEqual(await enclave.signAuthorization(makeOrder()), { kind: 'signed', signature: SIGNATURE })
    const request = stub.requests.at(-1)
    assert.equal(`${request?.method} ${request?.path}`, 'POST /v1/wallets/w00000000000000000000001/rpc')
    const expected = { method: 'eth_signTypedData_v4', chain_type: 'ethereum', params: { typed_data: TYPED_DATA } }
    assert.deepEqual(request?.body, expected)
    // The enclave compares the order of the members, which `deepEqual` does not.
    assert.ok(request.text.includes(JSON.stringify(TYPED_DATA.types)))
    assert.equal(request.headers['privy-idempotency-key'], 'attempt-1')
    assert.equal(request.headers['privy-request-expiry'], String(Date.UTC(2100, 0, 1)))
    assert.ok(request.headers['privy-authorization-signature'])
  })

  it('asks for the form that the code of the wallet checks', async () => {
    stub.answer(accept(`0x${'ab'.repeat(400)}`))
    const answer = await enclave.signAuthorization(makeOrder({ form: 'erc1271' }))
    assert.equal(answer.kind, 'signed')
    assert.deepEqual(stub.requests.at(-1)?.body, {
      method: 'eth_signTypedData_v4',
      chain_type: 'ethereum',
      caip2: 'eip155:84532',
      signature_options: { type: 'erc1271' },
      params: { typed_data: TYPED_DATA },
    })
  })

  it('is not sent when it has expired already, or for no amount', async () => {
    const sent = stub.requests.length
    const answer = await enclave.signAuthorization(makeOrder({ expiresAt: new Date(0) }))
    assert.deepEqual([answer.kind, codeOf(answer)], ['not_signed', 'request_expired'])
    const authorization = { ...makeOrder().authorization, valueMicro: microUsdc(0n) }
    await assert.rejects(enclave.signAuthorization(makeOrder({ authorization })), RangeError)
    assert.equal(stub.requests.length, sent)
  })

  it('puts nothing secret into errors and logs', async () => {
    stub.answer(refuse(500, { error: 'Oops' }))
    const answer = await enclave.signAuthorization(makeOrder())
    assert.ok(answer.kind === 'unknown')
    const { error } = answer
    const told = `${error.message} ${error.stack} ${JSON.stringify(error)} ${stub.log()}`
    assert.match(told, /500 unexpected_status/)
    for (const secret of [STUB_APP_SECRET, ORDER_SIGNER.privateKey]) assert.ok(!told.includes(secret))
  })
})

function codeOf(answer: SigningAnswer): string | null {
  if (answer.kind === 'signed') return null
  return answer.kind === 'unknown' ? answer.error.code : answer.code
}

const SIGNATURES = 'No valid authorization signatures were provided. Your signing keys may be incorrect or expired.'
const REUSED = 'Idempotency key was reused for a request with a new body.'
const PAGE: StubAnswer = (response) =>
  void response.writeHead(403, { 'content-type': 'text/html' }).end('<html>Access denied</html>')

type Kind = Exclude<SigningAnswer['kind'], 'signed'>
const OUTCOMES: [name: string, answer: StubAnswer, kind: Kind, code: string][] = [
  ['a policy violation', refuse(400, { error: 'denied', code: 'policy_violation' }), 'refused', 'policy_violation'],
  ['a wrong signature', refuse(401, { error: SIGNATURES, code: 'invalid_data' }), 'refused', 'invalid_data'],
  ['an expired request', refuse(401, { error: 'The request has expired' }), 'not_signed', 'request_expired'],
  ['invalid data', refuse(400, { error: 'bad', code: 'invalid_data' }), 'not_signed', 'invalid_data'],
  ['too many requests', refuse(429, { error: 'slow', code: 'too_many_requests' }), 'not_signed', 'too_many_requests'],
  ['a wallet that does not exist', refuse(404, { error: 'Wallet not found' }), 'not_signed', 'not_found'],
  ['an unknown code', refuse(400, { error: 'bad', code: 'something_new' }), 'unknown', 'something_new'],
  ['a reused key', refuse(400, { error: REUSED, code: 'invalid_data' }), 'unknown', 'invalid_data'],
  ['a conflict', refuse(409, { error: 'busy', code: 'resource_conflict' }), 'unknown', 'resource_conflict'],
  ['an error of the enclave', refuse(500, { error: 'Oops' }), 'unknown', 'unexpected_status'],
  ["a proxy's page", PAGE, 'unknown', 'forbidden'],
  ['a policy violation that a proxy wrote', refuse(400, { code: 'policy_violation' }), 'unknown', 'policy_violation'],
  ['a lost response', (response) => response.destroy(), 'unknown', 'econnreset'],
  ['no answer in time', () => undefined, 'unknown', 'timeout'],
  ['no signature', accept(undefined), 'unknown', 'malformed_answer'],
  ['a signature that is not hexadecimal', accept('0xzz'), 'unknown', 'malformed_answer'],
  ['a signature that is too short', accept(`0x${'ab'.repeat(63)}`), 'unknown', 'malformed_answer'],
  ['a signature that fits in no header', accept(`0x${'ab'.repeat(5_000)}`), 'unknown', 'malformed_answer'],
  ['a page with status 200', refuse(200, '<html>'), 'unknown', 'malformed_answer'],
]

describe('the outcome of signAuthorization', () => {
  for (const [name, answer, kind, code] of OUTCOMES) {
    it(`is ${kind} for ${name}, after one request`, async () => {
      stub.answer(answer)
      const sent = stub.requests.length
      const told = await (code === 'timeout' ? hasty : enclave).signAuthorization(makeOrder())
      assert.deepEqual([told.kind, codeOf(told)], [kind, code])
      assert.equal(stub.requests.length, sent + 1)
    })
  }
})
