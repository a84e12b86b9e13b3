import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createSoftwarePasskey } from '../software-passkey.ts'
import type { UpdateWalletBody } from './schemas.ts'
import { loadSdk } from '../../test/support/test-client.ts'
import { makeDataDir, removeDataDir, startTestEnclave } from '../../test/support/test-enclave.ts'
import type { TestEnclave } from '../../test/support/test-enclave.ts'
import { assertRequest, formatPolicy, openGrant, signedUpdate } from '../../test/support/test-grant.ts'

/** An address where nothing listens: these tests of signatures and ownership require no chain. */
const NO_CHAIN = 'http://127.0.0.1:9'
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const DOCS = 'https://docs.privy.io/api-reference/authorization-signatures'
const MISSING = {
  status: 401,
  error: {
    error: `Missing \`privy-authorization-signature\` header or no signatures provided. Learn more about authorization signatures here: ${DOCS}`,
    code: 'invalid_data',
  },
}
const INVALID = {
  status: 401,
  error: {
    error: `No valid authorization signatures were provided. Your payload may be malformed or your signing keys may be incorrect or expired. Docs: ${DOCS}`,
    code: 'invalid_data',
  },
}
const COUNT = {
  status: 401,
  error: {
    error:
      "Number of signatures in `privy-authorization-signature` header does not match the wallet's authorization threshold.",
    code: 'invalid_data',
  },
}

let enclave: TestEnclave

before(async () => {
  enclave = await startTestEnclave({ dataDir: await makeDataDir(), rpcUrl: NO_CHAIN })
})

after(async () => {
  assert.equal(await enclave.stop(), 0)
  await removeDataDir(enclave.dataDir)
})

test("requests without the app's credentials are 401", async () => {
  const cases: readonly Record<string, string>[] = [
    { 'privy-app-id': 'other' },
    { authorization: basic('app-test:wrong') },
    { authorization: basic('other:secret-test') },
    { authorization: '' },
  ]
  for (const headers of cases) {
    const { status, body } = await enclave.request('GET', '/v1/wallets/x', { headers })
    assert.equal(status, 401)
    assert.ok(body.error)
  }
  assert.equal((await enclave.request('GET', '/v1/wallets/x')).status, 404)
  assert.equal((await enclave.request('POST', '/control/faults', { body: { fault: 'reject', count: 1 } })).status, 401)
})

test('a grant becomes active with the signature of the passkey that owns the wallet, and is read as it was signed', async () => {
  const { wallet, signer, policy } = await openGrant(enclave, USDC)
  assert.match(wallet.address, /^0x[0-9a-fA-F]{40}$/)
  assert.deepEqual(wallet.policy_ids, [])
  assert.deepEqual((await enclave.client.wallets().get(wallet.id)).additional_signers, [signer])
  assert.deepEqual(await enclave.client.policies().get(policy.id), policy)
  assert.equal(policy.owner_id, wallet.owner_id)
  assert.match(policy.id, /^[a-z][a-z0-9]{23}$/)
  const quorum = await enclave.client.keyQuorums().get(signer.signer_id)
  assert.equal(quorum.authorization_threshold, 1)
})

test('a change to a wallet without a signature is 401', async () => {
  const { wallet } = await openGrant(enclave, USDC)
  await assert.rejects(enclave.client.wallets().update(wallet.id, { additional_signers: [] }), MISSING)
})

test('a signer cannot change the owner, the signers or the policies of its wallet', async () => {
  const { wallet, signer, agent } = await openGrant(enclave, USDC)
  const authorization_context = { authorization_private_keys: [agent.privateKey] }
  const changes = [
    { policy_ids: [] },
    { owner: { public_key: agent.publicKey } },
    { owner_id: signer.signer_id },
    { additional_signers: [{ signer_id: signer.signer_id }] },
  ]
  for (const change of changes) {
    await assert.rejects(enclave.client.wallets().update(wallet.id, { ...change, authorization_context }), INVALID)
  }
  assert.deepEqual(await enclave.client.wallets().get(wallet.id), wallet)
})

test('a passkey that does not own the wallet cannot change it', async () => {
  const { wallet } = await openGrant(enclave, USDC)
  const passkey = createSoftwarePasskey({ rpId: 'localhost', origin: 'http://localhost:4101' })
  await assert.rejects(signedUpdate(enclave, { wallet, passkey, body: { additional_signers: [] } }), INVALID)
})

test('a signature is valid only for its own body, address, method, headers and time', async () => {
  const { wallet, passkey, signer } = await openGrant(enclave, USDC)
  const other = await openGrant(enclave, USDC)
  const url = `${enclave.url}/v1/wallets/${wallet.id}`
  const expiry = Date.now() + 60_000
  const body: UpdateWalletBody = { additional_signers: [] }
  const good = { method: 'PATCH', url, body, expiry }
  const send = async (signed: typeof good, headers: Record<string, string> = {}) =>
    await enclave.request('PATCH', `/v1/wallets/${wallet.id}`, {
      body,
      headers: {
        'privy-authorization-signature': assertRequest(passkey, signed),
        'privy-request-expiry': String(expiry),
        ...headers,
      },
    })
  const wrong = [
    { ...good, body: { additional_signers: [signer] } },
    { ...good, url: `${enclave.url}/v1/wallets/${other.wallet.id}` },
    { ...good, url: `http://elsewhere.test/v1/wallets/${wallet.id}` },
    { ...good, method: 'POST' },
    { ...good, expiry: expiry + 1 },
  ]
  for (const signed of wrong) assert.equal((await send(signed)).status, 401, JSON.stringify(signed))
  assert.equal((await send(good, { 'privy-idempotency-key': randomUUID() })).status, 401)
  assert.equal((await enclave.client.wallets().get(wallet.id)).additional_signers.length, 1)
  assert.equal((await send(good)).status, 200)
  assert.equal((await enclave.client.wallets().get(wallet.id)).additional_signers.length, 0)
})

test('a request that a TLS proxy forwards is signed for the address of the proxy', async () => {
  const { wallet, passkey } = await openGrant(enclave, USDC)
  const url = `${enclave.url.replace('http:', 'https:')}/v1/wallets/${wallet.id}`
  const expiry = Date.now() + 60_000
  const body: UpdateWalletBody = { additional_signers: [] }
  const send = async (headers: Record<string, string>) =>
    await enclave.request('PATCH', `/v1/wallets/${wallet.id}`, {
      body,
      headers: {
        'privy-authorization-signature': assertRequest(passkey, { method: 'PATCH', url, body, expiry }),
        'privy-request-expiry': String(expiry),
        ...headers,
      },
    })
  assert.equal((await send({})).status, 401)
  assert.equal((await send({ 'x-forwarded-proto': 'https' })).status, 200)
})

test("an expired request is 401 by the enclave's own clock, which the sandbox moves", async () => {
  const { wallet, passkey } = await openGrant(enclave, USDC)
  await enclave.moveClock(16 * 60 * 1000)
  try {
    await assert.rejects(signedUpdate(enclave, { wallet, passkey, body: { additional_signers: [] } }), {
      status: 401,
      error: { error: 'The request has expired', code: 'request_expired' },
    })
  } finally {
    await enclave.moveClock(0)
  }
  await signedUpdate(enclave, { wallet, passkey, body: { additional_signers: [] } })
})

test('a quorum requires exactly its threshold of signatures, each by another member', async () => {
  const keys = await Promise.all([1, 2, 3].map(async () => await loadSdk().generateP256KeyPair()))
  const quorum = await enclave.client.keyQuorums().create({
    public_keys: keys.map((key) => key.publicKey),
    authorization_threshold: 2,
  })
  const wallet = await enclave.client.wallets().create({ chain_type: 'ethereum', owner_id: quorum.id })
  const stranger = await loadSdk().generateP256KeyPair()
  const [one = '', two = '', three = ''] = keys.map((key) => key.privateKey)
  const update = async (...privateKeys: string[]) =>
    await enclave.client.wallets().update(wallet.id, {
      display_name: randomUUID(),
      authorization_context: { authorization_private_keys: privateKeys },
    })
  await assert.rejects(update(one), COUNT)
  await assert.rejects(update(one, two, three), COUNT)
  await assert.rejects(update(one, one), { status: 401 })
  await assert.rejects(update(one, stranger.privateKey), { status: 401 })
  await assert.rejects(update(stranger.privateKey, stranger.privateKey), INVALID)
  await update(three, one)
})

test('only its owner changes and deletes a policy; without an owner, the app may do it alone', async () => {
  const owner = await loadSdk().generateP256KeyPair()
  const quorum = await enclave.client
    .keyQuorums()
    .create({ public_keys: [owner.publicKey], authorization_threshold: 1 })
  const owned = await enclave.client.policies().create({ ...formatPolicy(USDC, 1n), owner_id: quorum.id })
  const authorization_context = { authorization_private_keys: [owner.privateKey] }
  await assert.rejects(enclave.client.policies().update(owned.id, { rules: [] }), MISSING)
  await assert.rejects(enclave.client.policies().delete(owned.id, {}), MISSING)
  const renamed = await enclave.client.policies().update(owned.id, { name: 'renamed', authorization_context })
  assert.deepEqual(renamed, { ...owned, name: 'renamed' })
  assert.deepEqual(await enclave.client.policies().delete(owned.id, { authorization_context }), { success: true })
  await assert.rejects(enclave.client.policies().get(owned.id), { status: 404 })
  const open = await enclave.client.policies().create(formatPolicy(USDC, 1n))
  assert.equal((await enclave.client.policies().update(open.id, { rules: [] })).rules.length, 0)
})

test('creating is idempotent by key, and a key cannot be reused for another body', async () => {
  const passkey = createSoftwarePasskey({ rpId: 'localhost', origin: 'http://localhost:4101' })
  const owner = { public_key: passkey.publicKeySpki }
  const idempotency_key = randomUUID()
  const create = async () => await enclave.client.wallets().create({ chain_type: 'ethereum', owner, idempotency_key })
  const [first, ...others] = await Promise.all([create(), create(), create()])
  for (const other of others) assert.deepEqual(other, first)
  await assert.rejects(
    enclave.client.wallets().create({ chain_type: 'ethereum', owner, display_name: 'x', idempotency_key }),
    {
      status: 400,
      error: {
        error:
          'Idempotency key was reused for a request with a new body. Please create a new idempotency key for the request.',
        code: 'invalid_data',
      },
    },
  )
  await enclave.moveClock(24 * 60 * 60 * 1000 + 1_000)
  assert.notEqual((await create()).id, first?.id)
  await enclave.moveClock(0)
})

test('a public key may be PEM or contain line breaks, and must be on P-256', async () => {
  const { publicKeySpki } = createSoftwarePasskey({ rpId: 'localhost', origin: 'http://localhost:4101' })
  const pem = `-----BEGIN PUBLIC KEY-----\n${publicKeySpki.slice(0, 64)}\n${publicKeySpki.slice(64)}\n-----END PUBLIC KEY-----\n`
  const quorum = await enclave.client.keyQuorums().create({ public_keys: [pem] })
  assert.deepEqual(quorum.authorization_keys, [{ public_key: publicKeySpki, display_name: null }])
  await assert.rejects(enclave.client.keyQuorums().create({ public_keys: ['AAAA'] }), { status: 400 })
  await assert.rejects(enclave.client.keyQuorums().create({ public_keys: [pem, publicKeySpki] }), { status: 400 })
})

test('a wallet with unknown signers or policies, two policies, or unknown members is rejected', async () => {
  const { wallet, passkey, signer } = await openGrant(enclave, USDC)
  const wrong = [
    { additional_signers: [{ signer_id: 'nobody' }] },
    { additional_signers: [{ ...signer, override_policy_ids: ['nothing'] }] },
    { additional_signers: [{ ...signer, override_policy_ids: [signer.signer_id, signer.signer_id] }] },
    { additional_signers: [signer, signer] },
    { owner_id: 'nobody' },
    { additional_signers: [], colour: 'red' },
  ]
  for (const body of wrong) {
    await assert.rejects(signedUpdate(enclave, { wallet, passkey, body }), { status: 400 }, JSON.stringify(body))
  }
  assert.deepEqual(await enclave.client.wallets().get(wallet.id), wallet)
})

const POLICY = formatPolicy(USDC, 1n)
const [RULE] = POLICY.rules
const CONDITION = { field_source: 'ethereum_transaction', field: 'to', operator: 'eq', value: USDC }
const MALFORMED: readonly [string, object][] = [
  ['a name of 51 characters', { ...POLICY, name: 'x'.repeat(51) }],
  ['an empty name', { ...POLICY, name: '' }],
  ['a rule whose name has 51 characters', { ...POLICY, rules: [{ ...RULE, name: 'x'.repeat(51) }] }],
  ['another version', { ...POLICY, version: '2.0' }],
  ['an unknown member', { ...POLICY, colour: 'red' }],
  ['a rule without conditions', { ...POLICY, rules: [{ ...RULE, conditions: [] }] }],
  ['an unknown method', { ...POLICY, rules: [{ ...RULE, method: 'eth_sendEverything' }] }],
  ['an unknown operator', withCondition({ ...CONDITION, operator: 'neq' })],
  ['a list for eq', withCondition({ ...CONDITION, value: [USDC] })],
  ['one string for in', withCondition({ ...CONDITION, operator: 'in' })],
  ['an unknown field', withCondition({ ...CONDITION, field: 'gas' })],
  ['an order between addresses', withCondition({ ...CONDITION, operator: 'lte' })],
  [
    'a hexadecimal time',
    withCondition({ ...CONDITION, field_source: 'system', field: 'current_unix_timestamp', value: '0x1' }),
  ],
  ['a hexadecimal chain id', withCondition({ ...CONDITION, field: 'chain_id', value: '0x1' })],
  ['an amount that is not a number', withCondition({ ...CONDITION, field: 'value', value: 'much' })],
  ['calldata without an ABI', withCondition({ ...CONDITION, field_source: 'ethereum_calldata', field: 'transfer.to' })],
]

for (const [name, policy] of MALFORMED) {
  test(`a policy with ${name} is invalid_policy_format`, async () => {
    const { status, body } = await enclave.request('POST', '/v1/policies', { body: policy })
    assert.equal(status, 400)
    assert.equal(body.code, 'invalid_policy_format')
  })
}

test('a policy whose name has 50 characters is accepted', async () => {
  const policy = await enclave.client.policies().create({ ...POLICY, name: 'x'.repeat(50) })
  assert.match(policy.rules[0]?.id ?? '', /^[a-z][a-z0-9]{23}$/)
})

function withCondition(condition: object): object {
  return { ...POLICY, rules: [{ ...RULE, conditions: [condition] }] }
}

function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`
}
