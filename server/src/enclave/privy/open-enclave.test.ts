import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { formatRequestForAuthorizationSignature, type WalletApiRequestSignatureInput } from '@privy-io/node'
import { pino } from 'pino'
import { createClock } from '../../lib/clock.ts'
import { microUsdc } from '../../values/money.ts'
import { parseAddress } from '../../values/address.ts'
import { EnclaveRefused, EnclaveUnavailable } from '../errors.ts'
import { openEnclave } from './open-enclave.ts'
import { buildPolicyRules, comparePolicy, type PolicyTerms } from './policy-rules.ts'
import {
  HASTY_MS,
  sendJson,
  signedObject,
  startStubEnclave,
  type StubEnclave,
} from '../../../../test/support/wires/stub-enclave.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'

const WALLET_ID = 'w00000000000000000000001'
const ADDRESS = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const signers = [
  { signerId: 'q00000000000000000000001', policyIds: ['p00000000000000000000001'] },
  { signerId: 'q00000000000000000000002', policyIds: ['p00000000000000000000002'] },
]
const POLICY_ID = 'p00000000000000000000001'
const QUORUM_ID = 'q00000000000000000000000'
const expiresAt = new Date('2100-01-01T00:00:00.000Z')
const usdc = parseAddress(ADDRESS) ?? assert.fail()
const terms: PolicyTerms = {
  chainId: 84532,
  maxPerTxMicro: microUsdc(5n),
  recipientAllowlist: [],
  contractAllowlist: [usdc],
  expiresAt: null,
  x402: true,
  usdc,
}
const change = { policyId: POLICY_ID, rules: buildPolicyRules(terms), expiresAt }
const owners = { quorumId: QUORUM_ID, publicKeys: ['SPKI1', 'SPKI2'], expiresAt }
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
  it('creates a wallet with its owners and signers, under the idempotency key', async () => {
    const additional_signers = signers.map(({ signerId, policyIds }) => ({
      signer_id: signerId,
      override_policy_ids: policyIds,
    }))
    stub.answer((response) => sendJson(response, 200, wallet({ additional_signers })))
    const created = await enclave.createWallet({
      ownerQuorumId: QUORUM_ID,
      signers,
      name: 'Treasury',
      idempotencyKey: 'key-1',
    })
    assert.deepEqual(created, { enclaveWalletId: WALLET_ID, address: ADDRESS, ownerQuorumId: QUORUM_ID, signers })
    const request = stub.requests.at(-1)
    assert.equal(`${request?.method} ${request?.path}`, 'POST /v1/wallets')
    assert.deepEqual(request?.body, {
      chain_type: 'ethereum',
      owner_id: QUORUM_ID,
      additional_signers,
      display_name: 'Treasury',
    })
    assert.equal(request.headers['privy-idempotency-key'], 'key-1')
  })

  it('creates a quorum, any key of which may sign, its name cut at a whole character', async () => {
    stub.answer((response) => sendJson(response, 200, { id: 'q1' }))
    const name = `${'a'.repeat(49)}🎉🎉`
    assert.equal(await enclave.createQuorum({ publicKeys: ['SPKI1', 'SPKI2'], name }), 'q1')
    const request = stub.requests.at(-1)
    assert.equal(`${request?.method} ${request?.path}`, 'POST /v1/key_quorums')
    assert.deepEqual(request?.body, {
      public_keys: ['SPKI1', 'SPKI2'],
      authorization_threshold: 1,
      display_name: 'a'.repeat(49),
    })
  })

  it('creates a policy without rules, and reads back what its owner signed', async () => {
    const held = new Map<string, object>()
    stub.answer((response, { body }) => {
      held.set('p1', { id: 'p1', created_at: 1, ...held.get('p1'), ...(body as object | undefined) })
      sendJson(response, 200, held.get('p1'))
    })
    assert.equal(await enclave.createPolicy({ name: 'Slot 1', ownerQuorumId: 'q1', idempotencyKey: 'key-2' }), 'p1')
    assert.equal(stub.requests.at(-1)?.headers['privy-idempotency-key'], 'key-2')
    assert.deepEqual(await enclave.readPolicy('p1'), { rules: [], ownerId: 'q1' })
    await enclave.applyPolicyChange({ ...change, policyId: 'p1', assertion })
    const { rules } = await enclave.readPolicy('p1')
    assert.deepEqual(comparePolicy(rules, terms).differences, [])
    assert.notDeepEqual(comparePolicy(rules, { ...terms, maxPerTxMicro: microUsdc(4n) }).differences, [])
  })

  it("reads a quorum's members", async () => {
    const authorization_keys = [{ public_key: 'SPKI1', display_name: null }]
    stub.answer((response) => sendJson(response, 200, { id: QUORUM_ID, authorization_keys }))
    assert.deepEqual(await enclave.readQuorum(QUORUM_ID), ['SPKI1'])
  })

  it('repeats a creation that the rate limit rejects, as often as is reasonable, and no other request', async () => {
    const rejectUntil = (count: number) => {
      const start = stub.requests.length
      stub.answer((response) => {
        if (stub.requests.length - start >= count) return sendJson(response, 200, { id: 'q1' })
        response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '0' })
        response.end(JSON.stringify({ error: 'Too many requests.', code: 'too_many_requests' }))
      })
      return () => stub.requests.length - start
    }
    const quorum = { publicKeys: ['SPKI'], name: 'x' }
    const afterTwo = rejectUntil(3)
    assert.equal(await enclave.createQuorum(quorum), 'q1')
    assert.equal(afterTwo(), 3)
    const always = rejectUntil(Infinity)
    await assert.rejects(enclave.createQuorum(quorum), { name: 'EnclaveUnavailable', status: 429 })
    assert.equal(always(), 5)
    const read = rejectUntil(Infinity)
    await assert.rejects(enclave.readWallet(WALLET_ID), { name: 'EnclaveUnavailable', status: 429 })
    await assert.rejects(enclave.applyPolicyChange({ ...change, assertion }), { status: 429 })
    assert.equal(read(), 2)
  })

  it('repeats a creation under another idempotency key, because the provider may store the response of a key', async () => {
    const stored = new Map<unknown, boolean>()
    stub.answer((response, { path, headers }) => {
      const key = headers['privy-idempotency-key']
      if (stored.size > 0 && !stored.has(key))
        return sendJson(response, 200, path === '/v1/wallets' ? wallet() : { id: 'p1' })
      stored.set(key, true)
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '0' })
      response.end(JSON.stringify({ error: 'Too many requests.', code: 'too_many_requests' }))
    })
    assert.equal(await enclave.createPolicy({ name: 'x', ownerQuorumId: 'q1', idempotencyKey: 'key-3' }), 'p1')
    stored.clear()
    const asked = { ownerQuorumId: QUORUM_ID, signers, name: 'x', idempotencyKey: 'key-4' }
    assert.equal((await enclave.createWallet(asked)).enclaveWalletId, WALLET_ID)
  })

  it('sends at most 10 creations at the same time, and other requests besides them', async () => {
    const held: (() => void)[] = []
    let isHeld = true
    stub.answer((response, { method }) => {
      if (method !== 'POST') return sendJson(response, 200, wallet())
      const respond = (): void => sendJson(response, 200, { id: 'q1' })
      if (isHeld) held.push(respond)
      else respond()
    })
    const asked = Array.from({ length: 25 }, async () => enclave.createQuorum({ publicKeys: ['SPKI'], name: 'x' }))
    await waitFor('10 creations at once', () => held.length >= 10)
    assert.equal((await enclave.readWallet(WALLET_ID)).address, ADDRESS)
    assert.equal(held.length, 10)
    isHeld = false
    for (const respond of held) respond()
    assert.equal((await Promise.all(asked)).length, 25)
  })

  it('does not wait for longer than a person would', async () => {
    const start = stub.requests.length
    stub.answer((response) => {
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '60' })
      response.end('{}')
    })
    await assert.rejects(enclave.createQuorum({ publicKeys: ['SPKI'], name: 'x' }), { status: 429 })
    assert.equal(stub.requests.length - start, 1)
  })

  it('creates no wallet with a signer that has no policy, or two', async () => {
    for (const policyIds of [[], ['p1', 'p2']]) {
      const asked = {
        ownerQuorumId: QUORUM_ID,
        signers: [{ signerId: 'q1', policyIds }],
        name: 'x',
        idempotencyKey: 'k',
      }
      await assert.rejects(enclave.createWallet(asked), TypeError)
    }
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

describe('a change that an owner signs', () => {
  const idOf = ['policies', 'key_quorums', 'wallets'] as const
  const CHANGES = [
    {
      name: 'of the rules of a policy',
      build: () => enclave.buildPolicyChange(change),
      apply: async () => enclave.applyPolicyChange({ ...change, assertion }),
      response: { id: POLICY_ID, rules: change.rules, owner_id: 'q1' },
      expected: { rules: change.rules, ownerId: 'q1' },
      collection: idOf[0],
    },
    {
      name: 'that empties a policy',
      build: () => enclave.buildPolicyChange({ ...change, rules: [] }),
      apply: async () => enclave.applyPolicyChange({ ...change, rules: [], assertion }),
      response: { id: POLICY_ID, rules: [], owner_id: 'q1' },
      expected: { rules: [], ownerId: 'q1' },
      collection: idOf[0],
    },
    {
      name: 'of the owners',
      build: () => enclave.buildOwnersChange(owners),
      apply: async () => enclave.applyOwnersChange({ ...owners, assertion }),
      response: { id: QUORUM_ID, authorization_keys: owners.publicKeys.map((public_key) => ({ public_key })) },
      expected: owners.publicKeys,
      collection: idOf[1],
    },
  ]
  for (const { name, build, apply, response, expected, collection } of CHANGES) {
    it(`${name} is sent exactly as it was signed`, async () => {
      const { request, challenge } = build()
      assert.deepEqual(build(), { request, challenge }, 'equal input gives equal bytes')
      assert.ok(request.url.startsWith(`${stub.apiUrl}/v1/${collection}/`))
      stub.answer((sent) => sendJson(sent, 200, response))
      assert.deepEqual(await apply(), expected)
      const received = stub.requests.at(-1)
      assert.ok(received)
      assert.equal(stub.apiUrl + received.path, request.url)
      const signed = signedObject(stub.apiUrl, received) as WalletApiRequestSignatureInput
      assert.deepEqual(Buffer.from(formatRequestForAuthorizationSignature(signed)), Buffer.from(challenge))
      assert.equal(received.headers['privy-authorization-signature'], 'webauthn:YXV0aA:e30:MEUC_-')
    })
  }

  it('contains the complete terms, in canonical form', () => {
    const { challenge } = enclave.buildPolicyChange({ ...change, rules: [] })
    assert.equal(
      Buffer.from(challenge).toString(),
      `{"body":{"rules":[]},"headers":{"privy-app-id":"app-test","privy-request-expiry":"4102444800000"},"method":"PATCH","url":"${stub.apiUrl}/v1/policies/${POLICY_ID}","version":1}`,
    )
    const { body } = JSON.parse(Buffer.from(enclave.buildPolicyChange(change).challenge).toString()) as {
      body: { rules: unknown[] }
    }
    assert.deepEqual(comparePolicy(body.rules, terms).differences, [])
  })

  it('is not built without an owner', () => {
    assert.throws(() => enclave.buildOwnersChange({ ...owners, publicKeys: [] }), TypeError)
  })

  it('is not built with ids that would change the path', () => {
    assert.throws(() => enclave.buildPolicyChange({ ...change, policyId: '../wallets/w1' }), TypeError)
    assert.throws(() => enclave.buildOwnersChange({ ...owners, quorumId: 'q1?' }), TypeError)
  })

  it('is refused with an assertion that would change the header', async () => {
    const sent = stub.requests.length
    for (const signature of ['', 'a:b', 'a,b', 'a\r\nb']) {
      await assert.rejects(enclave.applyPolicyChange({ ...change, assertion: { ...assertion, signature } }), TypeError)
    }
    assert.equal(stub.requests.length, sent)
  })

  it('distinguishes a refusal from an unknown outcome', async () => {
    stub.answer((response) => sendJson(response, 401, { error: 'The request has expired', code: 'invalid_data' }))
    await assert.rejects(enclave.applyPolicyChange({ ...change, assertion }), {
      name: 'EnclaveRefused',
      code: 'request_expired',
      status: 401,
    })
    stub.answer((response) => sendJson(response, 500, {}))
    await assert.rejects(enclave.applyPolicyChange({ ...change, assertion }), {
      name: 'EnclaveUnavailable',
      status: 500,
    })
  })

  it('leaves the outcome unknown if a proxy rejects it, because the enclave may have carried it out', async () => {
    for (const status of [400, 401, 403, 404, 413, 422]) {
      stub.answer((response) => sendJson(response, status, { message: 'Blocked', code: 'request_expired' }))
      for (const { apply } of CHANGES) await assert.rejects(apply(), { name: 'EnclaveUnavailable', status })
    }
  })
})

describe('an enclave that returns malformed responses', () => {
  const CALLS: [string, () => Promise<unknown>][] = [
    [
      'createWallet',
      async () => enclave.createWallet({ ownerQuorumId: 'x', signers: [], name: 'x', idempotencyKey: 'x' }),
    ],
    ['createQuorum', async () => enclave.createQuorum({ publicKeys: ['x'], name: 'x' })],
    ['readPolicy', async () => enclave.readPolicy('p1')],
    ['readQuorum', async () => enclave.readQuorum('q1')],
    ['readWallet', async () => enclave.readWallet(WALLET_ID)],
    ['applyPolicyChange', async () => enclave.applyPolicyChange({ ...change, assertion })],
    ['applyOwnersChange', async () => enclave.applyOwnersChange({ ...owners, assertion })],
  ]
  for (const [name, call] of CALLS) {
    for (const body of [null, 'text', {}, [], { id: 'x' }]) {
      if (name === 'createQuorum' && typeof body === 'object' && body !== null && 'id' in body) continue
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
