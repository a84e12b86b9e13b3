import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { TransferOutcome } from '../enclave.ts'
import {
  acceptTransfer,
  HASTY_MS,
  makeOrder,
  ORDER_SIGNER,
  sendJson,
  STUB_APP_SECRET,
  startStubEnclave,
  type StubAnswer,
  type StubEnclave,
} from '../../../../test/support/wires/stub-enclave.ts'

const HASH = `0x${'ab'.repeat(32)}`

function refuse(status: number, body: unknown): StubAnswer {
  return (response) => sendJson(response, status, body)
}

let stub: StubEnclave
let enclave: ReturnType<StubEnclave['open']>
/** A client with a short timeout, for outcomes that occur after a timeout. */
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

function codeOf(answer: TransferOutcome): string | null {
  if (answer.kind === 'accepted') return null
  return answer.kind === 'unknown' ? answer.error.code : answer.code
}

const OPERATION = `0x${'cd'.repeat(32)}`
const ACCEPTED: [name: string, data: object, txHash: string | null, userOperationHash?: string][] = [
  [
    'a sponsored send without a hash',
    { transaction_id: 'tx1', hash: '', user_operation_hash: OPERATION, caip2: 'eip155:84532' },
    null,
    OPERATION,
  ],
  ['a send with its hash', { transaction_id: 'tx1', hash: HASH, caip2: 'eip155:84532' }, HASH],
  ['a hash that is null', { transaction_id: 'tx1', hash: null }, null],
]

const SIGNATURES =
  'No valid authorization signatures were provided. Your payload may be malformed or your signing keys may be incorrect or expired. Docs: https://docs.privy.io/api-reference/authorization-signatures'
const NO_SIGNATURE =
  'Missing `privy-authorization-signature` header or no signatures provided. Learn more about authorization signatures here: https://docs.privy.io/api-reference/authorization-signatures'
const KEY_REUSED =
  'Idempotency key was reused for a request with a new body. Please create a new idempotency key for the request.'
const PAGE: StubAnswer = (response) =>
  void response.writeHead(403, { 'content-type': 'text/html' }).end('<html>Access denied</html>')

type Outcome = Exclude<TransferOutcome['kind'], 'accepted'>

/**
 * Every error that the provider documents or that we have observed, and responses of a proxy between us and the
 * enclave.
 */
const OUTCOMES: [name: string, answer: StubAnswer, outcome: Outcome, code: string][] = [
  // The enclave rejected this transfer.
  [
    'a policy violation',
    refuse(400, { error: 'RPC request denied due to policy violation', code: 'policy_violation' }),
    'refused',
    'policy_violation',
  ],
  ['a wrong signature', refuse(401, { error: SIGNATURES, code: 'invalid_data' }), 'refused', 'invalid_data'],
  ['a wrong signature without a code', refuse(401, { error: SIGNATURES }), 'refused', 'unauthorized'],
  [
    'too few valid signatures',
    refuse(401, {
      error: 'Not enough valid authorization signatures provided',
      code: 'insufficient_correct_authorization_signatures',
    }),
    'refused',
    'insufficient_correct_authorization_signatures',
  ],
  [
    'a number of signatures other than the threshold',
    refuse(401, {
      error:
        "Number of signatures in `privy-authorization-signature` header does not match the wallet's authorization threshold.",
      code: 'invalid_data',
    }),
    'refused',
    'invalid_data',
  ],

  // The enclave certainly did not send the transfer.
  [
    'spent gas credits',
    refuse(400, { error: 'Insufficient gas credits balance', code: 'insufficient_funds' }),
    'not_sent',
    'insufficient_funds',
  ],
  [
    'spent gas credits, without a code',
    refuse(400, { error: 'Insufficient gas credits balance' }),
    'not_sent',
    'bad_request',
  ],
  [
    'a wallet without funds',
    refuse(400, { error: 'Wallet has insufficient funds for this transaction', code: 'insufficient_funds' }),
    'not_sent',
    'insufficient_funds',
  ],
  [
    'sponsorship that is not enabled',
    refuse(400, { error: 'Gas sponsorship is not enabled for this app' }),
    'not_sent',
    'bad_request',
  ],
  [
    'a feature that is off',
    refuse(403, { error: 'Off', code: 'feature_not_enabled' }),
    'not_sent',
    'feature_not_enabled',
  ],
  [
    'a block for compliance',
    refuse(403, { error: 'No', code: 'compliance_blocked' }),
    'not_sent',
    'compliance_blocked',
  ],
  ['a 403 of the provider without a code', refuse(403, { error: 'Forbidden' }), 'not_sent', 'forbidden'],
  ['a demand for payment', refuse(402, { error: 'Payment failed' }), 'not_sent', 'payment_failed'],
  ['a missing signature', refuse(401, { error: NO_SIGNATURE }), 'not_sent', 'unauthorized'],
  ['bad credentials of ours', refuse(401, { error: 'Invalid app ID or app secret.' }), 'not_sent', 'unauthorized'],
  [
    'an unknown application',
    refuse(401, { error: 'Invalid Privy app ID', code: 'missing_or_invalid_privy_app_id' }),
    'not_sent',
    'missing_or_invalid_privy_app_id',
  ],
  [
    'an expired request, told by its sentence',
    refuse(401, { error: 'The request has expired' }),
    'not_sent',
    'request_expired',
  ],
  [
    'an expired request, told by its code',
    refuse(401, { error: 'No', code: 'request_expired' }),
    'not_sent',
    'request_expired',
  ],
  ['an unknown wallet', refuse(404, { error: 'Wallet not found' }), 'not_sent', 'not_found'],
  ['a method that is not allowed', refuse(405, { error: 'Method not allowed' }), 'not_sent', 'method_not_allowed'],
  ['a malformed request', refuse(400, { error: 'Validation error', code: 'invalid_data' }), 'not_sent', 'invalid_data'],
  ['an invalid request', refuse(400, { error: 'No', code: 'invalid_request' }), 'not_sent', 'invalid_request'],
  ['an invalid state', refuse(400, { error: 'No', code: 'invalid_state' }), 'not_sent', 'invalid_state'],
  [
    'a malformed reference id',
    refuse(400, { error: 'reference_id must be at most 64 characters', code: 'invalid_data' }),
    'not_sent',
    'invalid_data',
  ],
  ['a body that is too large', refuse(413, { error: 'Too large' }), 'not_sent', 'too_large'],
  ['an unsupported media type', refuse(415, { error: 'Unsupported' }), 'not_sent', 'unsupported_media_type'],
  ['a legacy schema error', refuse(422, { error: 'Invalid' }), 'not_sent', 'unprocessable'],
  [
    'a rate limit',
    refuse(429, { error: 'Too many requests. Please wait to try again.', code: 'too_many_requests' }),
    'not_sent',
    'too_many_requests',
  ],

  // The enclave may have sent the transfer.
  [
    'a failed broadcast',
    refuse(400, { error: 'Transaction creation failed', code: 'transaction_broadcast_failure' }),
    'unknown',
    'transaction_broadcast_failure',
  ],
  [
    'a failed execution',
    refuse(400, { error: 'Transaction failed', code: 'transaction_execution_failure' }),
    'unknown',
    'transaction_execution_failure',
  ],
  ['a timeout of the provider', refuse(408, { error: 'Timeout' }), 'unknown', 'unexpected_status'],
  [
    'a timeout with a code of bad requests',
    refuse(408, { error: 'No', code: 'invalid_request' }),
    'unknown',
    'invalid_request',
  ],
  [
    'a conflict with a code of bad requests',
    refuse(409, { error: 'No', code: 'invalid_state' }),
    'unknown',
    'invalid_state',
  ],
  ['a conflict', refuse(409, { error: 'Conflict', code: 'resource_conflict' }), 'unknown', 'resource_conflict'],
  [
    'a taken reference id',
    refuse(400, { error: 'reference_id must be unique', code: 'invalid_data' }),
    'unknown',
    'invalid_data',
  ],
  ['a taken reference id as 422', refuse(422, { error: 'reference_id already exists' }), 'unknown', 'unprocessable'],
  [
    'a resource that exists',
    refuse(400, { error: 'No', code: 'resource_already_exists' }),
    'unknown',
    'resource_already_exists',
  ],
  ['a used idempotency key', refuse(400, { error: KEY_REUSED, code: 'invalid_data' }), 'unknown', 'invalid_data'],
  ['a 400 with a code that is not documented', refuse(400, { error: 'No', code: 'brand_new' }), 'unknown', 'brand_new'],
  ['a 400 without a code', refuse(400, { error: 'No' }), 'unknown', 'bad_request'],
  ['a code that is no code', refuse(400, { error: 'No', code: 'DROP TABLE\n' }), 'unknown', 'bad_request'],
  ['an internal error', refuse(500, { error: 'Oops' }), 'unknown', 'unexpected_status'],
  ['an unavailable provider', refuse(503, { error: 'Unavailable' }), 'unknown', 'unexpected_status'],
  [
    'a policy violation with a status of 500',
    refuse(500, { error: 'No', code: 'policy_violation' }),
    'unknown',
    'policy_violation',
  ],

  // A proxy responded, or there was no response.
  ['a 400 without JSON', refuse(400, 'No'), 'unknown', 'bad_request'],
  ["a proxy's page with 403", PAGE, 'unknown', 'forbidden'],
  ['a 401 that is not in the form of the provider', refuse(401, { message: 'No' }), 'unknown', 'unauthorized'],
  ['a 429 without a body', refuse(429, {}), 'unknown', 'unexpected_status'],
  [
    'a gateway',
    (response) => void response.writeHead(502, { 'content-type': 'text/html' }).end('<html>'),
    'unknown',
    'unexpected_status',
  ],
  ['a redirect', (response) => void response.writeHead(302, { location: '/' }).end(), 'unknown', 'unexpected_status'],
  ['no response', () => undefined, 'unknown', 'timeout'],
  [
    'half a response',
    (response) => void response.writeHead(200, { 'content-length': 100 }).write('{'),
    'unknown',
    'timeout',
  ],
  ['a connection cut before the response', (response) => response.destroy(), 'unknown', 'econnreset'],
  [
    'a connection cut within the response',
    (response) => response.writeHead(200, { 'content-length': 9 }).write('{', () => response.destroy()),
    'unknown',
    'econnreset',
  ],
  [
    'a response that says that more should follow',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 500 })
      response.write(JSON.stringify({ data: { transaction_id: 'tx1', hash: HASH } }), () => response.destroy())
    },
    'unknown',
    'econnreset',
  ],
  [
    'a response that is compressed, although we did not ask for it',
    (response) => {
      const text = JSON.stringify({ method: 'eth_sendTransaction', data: { transaction_id: 'tx1', hash: HASH } })
      const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
      response.writeHead(200, headers).end(gzipSync(text))
    },
    'unknown',
    'malformed_answer',
  ],
  ['a status that no standard knows', refuse(999, { error: 'Oops' }), 'unknown', 'no_answer'],
  [
    'an endless response',
    (response) => void response.writeHead(200).end('x'.repeat(1024 * 1024 + 1)),
    'unknown',
    'no_answer',
  ],

  // A status of success, but a body that does not show what was done.
  [
    'a success that is no JSON',
    (response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
    'unknown',
    'malformed_answer',
  ],
  [
    'a success that is a page',
    (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    'unknown',
    'malformed_answer',
  ],
  ['a success without a transaction id', acceptTransfer({ hash: HASH }), 'unknown', 'malformed_answer'],
  [
    'an error within a success',
    refuse(200, { method: 'eth_sendTransaction', error: { code: 'x', message: 'y' } }),
    'unknown',
    'malformed_answer',
  ],
  ['a success of null', refuse(200, null), 'unknown', 'malformed_answer'],
]

describe('the outcome of sendTransfer', () => {
  for (const [name, data, txHash, userOperationHash = null] of ACCEPTED) {
    it(`is accepted for ${name}`, async () => {
      stub.answer(acceptTransfer(data))
      const accepted = { kind: 'accepted', transactionId: 'tx1', txHash, userOperationHash }
      assert.deepEqual(await enclave.sendTransfer(makeOrder()), accepted)
    })
  }

  for (const [name, answer, outcome, code] of OUTCOMES) {
    it(`is "${outcome}" after ${name}, with one request`, async () => {
      stub.answer(answer)
      const sent = stub.requests.length
      const told = await (code === 'timeout' ? hasty : enclave).sendTransfer(makeOrder())
      assert.deepEqual([told.kind, codeOf(told)], [outcome, code])
      assert.equal(stub.requests.length, sent + 1)
    })
  }

  it('is unknown if no process listens at the address', async () => {
    const gone = await startStubEnclave()
    gone.close()
    const nobody = gone.open()
    const answer = await nobody.sendTransfer(makeOrder())
    assert.deepEqual([answer.kind, codeOf(answer)], ['unknown', 'econnrefused'])
    nobody.close()
  })

  it('puts nothing secret into errors and logs', async () => {
    stub.answer(refuse(500, { error: 'Oops' }))
    const answer = await enclave.sendTransfer(makeOrder())
    assert.ok(answer.kind === 'unknown')
    const { error } = answer
    const signature = stub.requests.at(-1)?.headers['privy-authorization-signature']
    assert.ok(typeof signature === 'string' && signature.length > 60)
    const told = `${error.message} ${error.stack} ${JSON.stringify(error)} ${stub.log()}`
    assert.match(told, /500 unexpected_status/)
    for (const secret of [STUB_APP_SECRET, ORDER_SIGNER.privateKey, signature]) assert.ok(!told.includes(secret))
  })

  it('cuts a long reason and removes control characters', async () => {
    stub.answer(refuse(400, { error: `a\n\u202eb${'c'.repeat(5_000)}`, code: 'invalid_data' }))
    const answer = await enclave.sendTransfer(makeOrder())
    assert.ok(answer.kind === 'not_sent')
    assert.match(answer.reason, /^a bc+$/)
    assert.equal(answer.reason.length, 300)
  })
})
