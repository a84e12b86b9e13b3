import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { formatRequestForAuthorizationSignature, type WalletApiRequestSignatureInput } from '@privy-io/node'
import { pino } from 'pino'
import { createClock } from '../lib/clock.ts'
import { microUsdc } from '../values/money.ts'
import { parseAddress } from '../values/address.ts'
import { EnclaveRefused, EnclaveUnavailable } from './errors.ts'
import { openEnclave } from './open-enclave.ts'
import { comparePolicy, type PolicyTerms } from './policy-rules.ts'
import {
  HASTY_MS,
  sendJson,
  signedObject,
  startStubEnclave,
  type StubEnclave,
} from '../../../test/support/wires/stub-enclave.ts'

const WALLET_ID = 'w00000000000000000000001'
const ADDRESS = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const signers = [
  { signerId: 'q00000000000000000000001', policyIds: ['p00000000000000000000001'] },
  { signerId: 'q00000000000000000000002', policyIds: ['p00000000000000000000002'] },
]
const change = { enclaveWalletId: WALLET_ID, signers, expiresAt: new Date('2100-01-01T00:00:00.000Z') }
const assertion = { authenticatorData: 'YXV0aA', clientDataJSON: 'e30', signature: 'MEUC_-' }

let stub: StubEnclave
let enclave: ReturnType<StubEnclave['open']>
before(async () => {
  stub = await startStubEnclave()
  enclave = stub.open()
})
after(() => {
  enclave.close()
  stub.close()
})

function wallet(fields: object = {}): object {
  return {
    id: WALLET_ID,
    address: ADDRESS.toLowerCase(),
    chain_type: 'ethereum',
    owner_id: 'q00000000000000000000000',
    policy_ids: [],
    additional_signers: [],
    created_at: 1,
    exported_at: null,
    imported_at: null,
    ...fields,
  }
}

describe('an enclave that responds', () => {
  it('creates a wallet owned by the passkey, under the idempotency key', async () => {
    stub.answer((response) => sendJson(response, 200, wallet()))
    const created = await enclave.createWallet({ ownerPublicKey: 'SPKI', name: 'Treasury', idempotencyKey: 'key-1' })
    assert.deepEqual(created, {
      enclaveWalletId: WALLET_ID,
      address: ADDRESS,
      ownerQuorumId: 'q00000000000000000000000',
    })
    const request = stub.requests.at(-1)
    assert.equal(`${request?.method} ${request?.path}`, 'POST /v1/wallets')
    assert.deepEqual(request?.body, { chain_type: 'ethereum', owner: { public_key: 'SPKI' }, display_name: 'Treasury' })
    assert.equal(request.headers['privy-idempotency-key'], 'key-1')
  })

  it('creates a signer of one key, its name cut at a whole character', async () => {
    stub.answer((response) => sendJson(response, 200, { id: 'q1' }))
    const name = `${'a'.repeat(49)}🎉🎉`
    assert.deepEqual(await enclave.createSigner({ publicKey: 'SPKI', name }), { signerId: 'q1' })
    const request = stub.requests.at(-1)
    assert.equal(`${request?.method} ${request?.path}`, 'POST /v1/key_quorums')
    assert.deepEqual(request?.body, {
      public_keys: ['SPKI'],
      authorization_threshold: 1,
      display_name: 'a'.repeat(49),
    })
  })

  it('creates a policy owned by the wallet owner, and reads back what matches the terms', async () => {
    const usdc = parseAddress(ADDRESS)
    assert.ok(usdc)
    const terms: PolicyTerms = {
      chainId: 84532,
      maxPerTxMicro: microUsdc(5n),
      recipientAllowlist: [],
      contractAllowlist: [usdc],
      expiresAt: null,
    }
    const held = new Map<string, object>()
    stub.answer((response, { method, body }) => {
      if (method === 'POST') held.set('p1', { ...(body as object), id: 'p1', created_at: 1 })
      sendJson(response, 200, held.get('p1'))
    })
    const created = await enclave.createPolicy({ name: 'agent-1', ownerQuorumId: 'q1', terms, idempotencyKey: 'key-2' })
    assert.deepEqual(created, { policyId: 'p1' })
    assert.equal(stub.requests.at(-1)?.headers['privy-idempotency-key'], 'key-2')
    const { rules, ownerId } = await enclave.readPolicy('p1')
    assert.equal(ownerId, 'q1')
    assert.deepEqual(comparePolicy(rules, terms).differences, [])
    assert.notDeepEqual(comparePolicy(rules, { ...terms, maxPerTxMicro: microUsdc(4n) }).differences, [])
  })

  it("reads a wallet's signers, including those without a policy", async () => {
    const additional_signers = [{ signer_id: 'q1', override_policy_ids: ['p1'] }, { signer_id: 'q2' }]
    stub.answer((response) => sendJson(response, 200, wallet({ additional_signers })))
    assert.deepEqual(await enclave.readWallet(WALLET_ID), {
      address: ADDRESS,
      ownerQuorumId: 'q00000000000000000000000',
      signers: [
        { signerId: 'q1', policyIds: ['p1'] },
        { signerId: 'q2', policyIds: [] },
      ],
    })
  })

  it('is reachable if it accepts our credentials and does not have the wallet', async () => {
    stub.answer((response) => sendJson(response, 404, { error: 'Wallet not found' }))
    await enclave.checkReachable()
    stub.answer((response) => sendJson(response, 401, { error: 'Invalid app ID or app secret.' }))
    await assert.rejects(enclave.checkReachable(), EnclaveRefused)
    stub.answer((response) => sendJson(response, 503, {}))
    await assert.rejects(enclave.checkReachable(), EnclaveUnavailable)
    stub.answer(() => undefined)
    const hasty = stub.open({ timeoutMs: HASTY_MS })
    await assert.rejects(hasty.checkReachable(), { name: 'EnclaveUnavailable', code: 'timeout' })
    hasty.close()
  })
})

describe('a signer change', () => {
  it('challenges the owner with the canonical form of the request, equal for equal input', () => {
    const { request, challenge } = enclave.buildSignerChange(change)
    assert.equal(
      Buffer.from(challenge).toString(),
      `{"body":{"additional_signers":[{"override_policy_ids":["p00000000000000000000001"],"signer_id":"q00000000000000000000001"},{"override_policy_ids":["p00000000000000000000002"],"signer_id":"q00000000000000000000002"}]},"headers":{"privy-app-id":"app-test","privy-request-expiry":"4102444800000"},"method":"PATCH","url":"${stub.apiUrl}/v1/wallets/${WALLET_ID}","version":1}`,
    )
    assert.equal(request.url, `${stub.apiUrl}/v1/wallets/${WALLET_ID}`)
    assert.deepEqual(enclave.buildSignerChange(structuredClone(change)), { request, challenge })
  })

  for (const [name, changed] of [
    ['some signers', change],
    ['no signers', { ...change, signers: [] }],
  ] as const) {
    it(`with ${name} is sent exactly as it was signed`, async () => {
      const { request, challenge } = enclave.buildSignerChange(changed)
      stub.answer((response) =>
        sendJson(response, 200, wallet({ additional_signers: request.body.additional_signers })),
      )
      const answer = await enclave.applySignerChange({ ...changed, assertion })
      assert.deepEqual(answer.signers, changed.signers)
      const received = stub.requests.at(-1)
      assert.ok(received)
      const signed = signedObject(stub.apiUrl, received) as WalletApiRequestSignatureInput
      assert.deepEqual(Buffer.from(formatRequestForAuthorizationSignature(signed)), Buffer.from(challenge))
      assert.equal(received.headers['privy-authorization-signature'], 'webauthn:YXV0aA:e30:MEUC_-')
    })
  }

  it('is not built with a signer that has no policy, or two', () => {
    for (const policyIds of [[], ['p1', 'p2']]) {
      assert.throws(() => enclave.buildSignerChange({ ...change, signers: [{ signerId: 'q1', policyIds }] }), TypeError)
    }
  })

  it('is not built with ids that would change the path', () => {
    assert.throws(() => enclave.buildSignerChange({ ...change, enclaveWalletId: '../policies/p1' }), TypeError)
  })

  it('is refused with an assertion that would change the header', async () => {
    const sent = stub.requests.length
    for (const signature of ['', 'a:b', 'a,b', 'a\r\nb']) {
      await assert.rejects(enclave.applySignerChange({ ...change, assertion: { ...assertion, signature } }), TypeError)
    }
    assert.equal(stub.requests.length, sent)
  })

  it('distinguishes a refusal from an unknown outcome', async () => {
    stub.answer((response) => sendJson(response, 401, { error: 'The request has expired', code: 'invalid_data' }))
    await assert.rejects(enclave.applySignerChange({ ...change, assertion }), {
      name: 'EnclaveRefused',
      code: 'request_expired',
      status: 401,
    })
    stub.answer((response) => sendJson(response, 500, {}))
    await assert.rejects(enclave.applySignerChange({ ...change, assertion }), {
      name: 'EnclaveUnavailable',
      status: 500,
    })
  })
})

describe('an enclave that returns malformed responses', () => {
  const CALLS: [string, () => Promise<unknown>][] = [
    ['createWallet', async () => enclave.createWallet({ ownerPublicKey: 'x', name: 'x', idempotencyKey: 'x' })],
    ['createSigner', async () => enclave.createSigner({ publicKey: 'x', name: 'x' })],
    ['readPolicy', async () => enclave.readPolicy('p1')],
    ['readWallet', async () => enclave.readWallet(WALLET_ID)],
    ['applySignerChange', async () => enclave.applySignerChange({ ...change, assertion })],
  ]
  for (const [name, call] of CALLS) {
    for (const body of [null, 'text', {}, [], { id: 'x' }]) {
      if (name === 'createSigner' && typeof body === 'object' && body !== null && 'id' in body) continue
      it(`leaves the outcome of ${name} unknown after ${JSON.stringify(body)}`, async () => {
        stub.answer((response) => sendJson(response, 200, body))
        await assert.rejects(call(), { name: 'EnclaveUnavailable', code: 'malformed_answer' })
      })
    }
  }
})

describe('openEnclave', () => {
  for (const apiUrl of [
    '',
    'api.privy.io',
    'ftp://x',
    'http://x/',
    'http://x/y/',
    'http://x?y',
    'http://u:p@x',
    'http://X',
  ]) {
    it(`refuses the address "${apiUrl}"`, () => {
      const options = { apiUrl, appId: 'a', appSecret: 's', timeoutMs: 1 }
      assert.throws(() => openEnclave(options, { clock: createClock(), logger: pino({ level: 'silent' }) }), TypeError)
    })
  }
})
