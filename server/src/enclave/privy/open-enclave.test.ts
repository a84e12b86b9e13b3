import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { formatRequestForAuthorizationSignature, type WalletApiRequestSignatureInput } from '@privy-io/node'
import { pino } from 'pino'
import { openPools } from '../../lib/pools.ts'
import { createClock } from '../../lib/clock.ts'
import { microUsdc } from '../../values/money.ts'
import { parseAddress } from '../../values/address.ts'
import type { Enclave, Terms } from '../enclave.ts'
import { EnclaveRefused, EnclaveUnavailable } from '../errors.ts'
import { openEnclave } from './open-enclave.ts'
import { compareWithTerms, toRules } from './terms.ts'
import {
  HASTY_MS,
  sendJson,
  signedObject,
  startStubEnclave,
  type StubAnswer,
  type StubEnclave,
} from '../../../../test/support/wires/stub-enclave.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'

const WALLET_ID = 'w00000000000000000000001'
const ADDRESS = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const RULES_ID = 'p00000000000000000000001'
const OWNERS_ID = 'q00000000000000000000000'
const slot = { enclaveRulesId: RULES_ID, signerId: 'q00000000000000000000001' }
const expiresAt = new Date('2100-01-01T00:00:00.000Z')
const usdc = parseAddress(ADDRESS) ?? assert.fail()
const ids = { address: usdc, enclaveWalletId: WALLET_ID, enclaveOwnersId: OWNERS_ID }
const terms: Terms = {
  ruleName: 'grt_1',
  chainId: 84532,
  maxPerTxMicro: microUsdc(5n),
  recipientAllowlist: [],
  contractAllowlist: [usdc],
  expiresAt: null,
  x402: true,
  usdc,
}
const change = { slot, rules: toRules(terms), expiresAt }
const owners = { wallet: ids, owners: ['SPKI1', 'SPKI2'], expiresAt }
const newWallet = { workspaceId: 'acc_1', name: 'Treasury', owners: ['SPKI1', 'SPKI2'], slots: 2 }
const assertion = { authenticatorData: 'YXV0aA', clientDataJSON: 'e30', signature: 'MEUC_-' }

type Json = Record<string, unknown>

let stub: StubEnclave
let enclave: Enclave
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
    owner_id: OWNERS_ID,
    policy_ids: [],
    additional_signers: [],
    created_at: 1,
    exported_at: null,
    imported_at: null,
    ...fields,
  }
}

/**
 * Responds as the provider does: each new resource gets an id with a number, and a new wallet has what was asked for.
 * `alter` changes the response to the creation of the wallet.
 */
function create(alter: (wallet: Json) => object = (one) => one): StubAnswer {
  let serial = 0
  return (response, { path, body }) => {
    serial += 1
    const { owner_id, additional_signers } = (body ?? {}) as { owner_id?: string; additional_signers?: Json[] }
    if (path === '/v1/wallets') return sendJson(response, 200, alter({ ...wallet(), owner_id, additional_signers }))
    sendJson(response, 200, { id: `${path === '/v1/policies' ? 'p' : 'q'}${serial}` })
  }
}

function rejectAlways(response: ServerResponse, retryAfter = '0'): void {
  response.writeHead(429, { 'content-type': 'application/json', 'retry-after': retryAfter })
  response.end(JSON.stringify({ error: 'Too many requests.', code: 'too_many_requests' }))
}

describe('an enclave that responds', () => {
  it('creates the owners, the slots without rules, and the wallet with one signer for each slot', async () => {
    const start = stub.requests.length
    stub.answer(create())
    const name = `${'a'.repeat(49)}🎉🎉`
    const { slots, ...created } = await enclave.createWallet({ ...newWallet, name })
    assert.deepEqual(created, { ...ids, enclaveOwnersId: 'q1' })
    assert.deepEqual(
      slots.map((one) => one.slot),
      [1, 2],
    )
    const requests = stub.requests.slice(start)
    const bodiesOf = (path: string) => requests.filter((one) => one.path === path).map(({ body }) => body as Json)
    const [ofOwners, ...ofSigners] = bodiesOf('/v1/key_quorums')
    const one = { authorization_threshold: 1 }
    assert.deepEqual(ofOwners, { ...one, public_keys: ['SPKI1', 'SPKI2'], display_name: 'Wallet owners' })
    assert.deepEqual(
      ofSigners.map(({ public_keys, ...rest }) => [Array.isArray(public_keys) && public_keys.length, rest]),
      [1, 2].map((slotNumber) => [1, { ...one, display_name: `Slot ${slotNumber}` }]),
    )
    const policy = { version: '1.0', chain_type: 'ethereum', owner_id: 'q1', rules: [] }
    assert.deepEqual(
      bodiesOf('/v1/policies'),
      [1, 2].map((slotNumber) => ({ ...policy, name: `Slot ${slotNumber}` })),
    )
    assert.deepEqual(bodiesOf('/v1/wallets'), [
      {
        chain_type: 'ethereum',
        owner_id: 'q1',
        additional_signers: slots.map(({ signerId, enclaveRulesId }) => ({
          signer_id: signerId,
          override_policy_ids: [enclaveRulesId],
        })),
        display_name: 'a'.repeat(49),
      },
    ])
    const keys = requests.map(({ headers }) => headers['privy-idempotency-key']).filter((key) => key !== undefined)
    assert.equal(new Set(keys).size, 3, 'each policy and the wallet have a key of their own')
  })

  it('returns no wallet with an owner or with signers other than those that were asked for', async () => {
    const withSigners = (alter: (signers: readonly Json[]) => unknown) => (one: Json) => ({
      ...one,
      additional_signers: alter(one['additional_signers'] as Json[]),
    })
    const first = (members: Json) =>
      withSigners((signers) => signers.map((one, index) => (index === 0 ? { ...one, ...members } : one)))
    for (const [alter, message] of [
      [(one: Json) => ({ ...one, owner_id: 'q99' }), /another owner/],
      [withSigners((signers) => signers.slice(1)), /other signers/],
      [withSigners((signers) => [...signers, { signer_id: 'x', override_policy_ids: ['x'] }]), /other signers/],
      [first({ override_policy_ids: [] }), /other signers/],
      [first({ override_policy_ids: undefined }), /other signers/],
      [first({ override_policy_ids: ['p1', 'p2'] }), /other signers/],
      [first({ signer_id: 'x' }), /other signers/],
    ] as const) {
      stub.answer(create(alter))
      await assert.rejects(enclave.createWallet(newWallet), message)
    }
  })

  it('reads the rules of a slot, and the owners of a wallet', async () => {
    stub.answer((response) => sendJson(response, 200, { id: RULES_ID, rules: change.rules, owner_id: OWNERS_ID }))
    assert.deepEqual(await enclave.readRules(slot), change.rules)
    const authorization_keys = [{ public_key: 'SPKI1', display_name: null }]
    stub.answer((response) => sendJson(response, 200, { id: OWNERS_ID, authorization_keys }))
    assert.deepEqual(await enclave.readOwners(ids), ['SPKI1'])
    stub.answer((response) => sendJson(response, 404, { error: 'Not found' }))
    assert.equal(await enclave.readOwners(ids), null)
  })

  it('repeats a creation that the rate limit rejects, under another key, and no other request', async () => {
    const start = stub.requests.length
    const accept = create()
    stub.answer((response, request) => {
      const tries = stub.requests.slice(start).filter(({ path }) => path === request.path).length
      return tries < 3 ? rejectAlways(response) : accept(response, request)
    })
    const noSlots = { ...newWallet, slots: 0 }
    assert.equal((await enclave.createWallet(noSlots)).enclaveWalletId, WALLET_ID)
    const requests = stub.requests.slice(start)
    assert.equal(requests.length, 6)
    const keys = requests.map(({ headers }) => headers['privy-idempotency-key']).filter((key) => key !== undefined)
    assert.equal(new Set(keys).size, 3, 'the provider may return its stored response for a key')

    stub.answer((response) => rejectAlways(response))
    await assert.rejects(enclave.createWallet(noSlots), { name: 'EnclaveUnavailable', status: 429 })
    assert.equal(stub.requests.length - start, 11)
    await assert.rejects(enclave.readRules(slot), { name: 'EnclaveUnavailable', status: 429 })
    await assert.rejects(enclave.prepareRules(change).submit(assertion), { status: 429 })
    assert.equal(stub.requests.length - start, 13)
  })

  it('sends at most 10 creations at the same time, and other requests besides them', async () => {
    const held: (() => void)[] = []
    let isHeld = true
    const accept = create()
    stub.answer((response, request) => {
      if (request.method !== 'POST') return sendJson(response, 200, { id: RULES_ID, rules: [], owner_id: OWNERS_ID })
      if (isHeld) held.push(() => accept(response, request))
      else accept(response, request)
    })
    const asked = Array.from({ length: 25 }, async () => enclave.createWallet({ ...newWallet, slots: 0 }))
    await waitFor('10 creations at once', () => held.length >= 10)
    assert.deepEqual(await enclave.readRules(slot), [])
    assert.equal(held.length, 10)
    isHeld = false
    for (const respond of held) respond()
    // Each response arrives at the wallet whose creation asked for it, or the wallet would have another owner.
    assert.equal((await Promise.all(asked)).length, 25)
  })

  it('creates the wallet of a newcomer in turn while one person creates 110 wallets in 37 workspaces', async () => {
    const pools = openPools()
    const shared = stub.open({ pools })
    stub.answer(create())
    const start = stub.requests.length
    const asked = Array.from({ length: 110 }, async (_, index) => {
      const workspaceId = `acc_${index % 37}`
      pools.creators.remember(workspaceId, 'usr_1')
      return await shared.createWallet({ ...newWallet, workspaceId, slots: 5 })
    })
    await waitFor('the first creations', () => stub.requests.length > start)
    await shared.createWallet({ ...newWallet, workspaceId: 'acc_newcomer', slots: 5 })
    // The newcomer's 12 requests had to wait for about as many of the other person's 1,320.
    const before = stub.requests.length - start
    assert.ok(before < 100, String(before))
    await Promise.all(asked)
    shared.close()
  })

  it('does not wait for longer than a person would', async () => {
    const start = stub.requests.length
    stub.answer((response) => rejectAlways(response, '60'))
    await assert.rejects(enclave.createWallet(newWallet), { status: 429 })
    assert.equal(stub.requests.length - start, 1)
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
  const CHANGES = [
    {
      name: 'of the rules of a slot',
      prepare: () => enclave.prepareRules(change),
      response: { id: RULES_ID, rules: change.rules, owner_id: 'q1' },
      path: `/v1/policies/${RULES_ID}`,
    },
    {
      name: 'that empties a slot',
      prepare: () => enclave.prepareRules({ ...change, rules: [] }),
      response: { id: RULES_ID, rules: [], owner_id: 'q1' },
      path: `/v1/policies/${RULES_ID}`,
    },
    {
      name: 'of the owners',
      prepare: () => enclave.prepareOwners(owners),
      response: { id: OWNERS_ID, authorization_keys: owners.owners.map((public_key) => ({ public_key })) },
      path: `/v1/key_quorums/${OWNERS_ID}`,
    },
  ]
  for (const { name, prepare, response, path } of CHANGES) {
    it(`${name} is sent exactly as it was signed`, async () => {
      const toSign = prepare()
      const { payload } = toSign
      assert.deepEqual(prepare().payload, payload, 'equal input gives equal bytes')
      stub.answer((sent) => sendJson(sent, 200, response))
      await toSign.submit(assertion)
      const received = stub.requests.at(-1)
      assert.ok(received)
      assert.equal(`${received.method} ${received.path}`, `PATCH ${path}`)
      const signed = signedObject(stub.apiUrl, received) as WalletApiRequestSignatureInput
      assert.deepEqual(Buffer.from(formatRequestForAuthorizationSignature(signed)), Buffer.from(payload))
      assert.equal(received.headers['privy-authorization-signature'], 'webauthn:YXV0aA:e30:MEUC_-')
    })
  }

  it('contains the complete terms, in canonical form', () => {
    const { payload } = enclave.prepareRules({ ...change, rules: [] })
    assert.equal(
      Buffer.from(payload).toString(),
      `{"body":{"rules":[]},"headers":{"privy-app-id":"app-test","privy-request-expiry":"4102444800000"},"method":"PATCH","url":"${stub.apiUrl}/v1/policies/${RULES_ID}","version":1}`,
    )
    const { body } = JSON.parse(Buffer.from(enclave.prepareRules(change).payload).toString()) as {
      body: { rules: unknown[] }
    }
    assert.deepEqual(compareWithTerms(body.rules, terms).differences, [])
  })

  it('is not built without an owner', () => {
    assert.throws(() => enclave.prepareOwners({ ...owners, owners: [] }), TypeError)
  })

  it('is not built with ids that would change the path', () => {
    assert.throws(() => enclave.prepareRules({ ...change, slot: { enclaveRulesId: '../wallets/w1' } }), TypeError)
    assert.throws(() => enclave.prepareOwners({ ...owners, wallet: { enclaveOwnersId: 'q1?' } }), TypeError)
  })

  it('is refused with an assertion that would change the header', async () => {
    const sent = stub.requests.length
    for (const signature of ['', 'a:b', 'a,b', 'a\r\nb']) {
      await assert.rejects(enclave.prepareRules(change).submit({ ...assertion, signature }), TypeError)
    }
    assert.equal(stub.requests.length, sent)
  })

  it('distinguishes a refusal from an unknown outcome', async () => {
    const toSign = enclave.prepareRules(change)
    stub.answer((response) => sendJson(response, 401, { error: 'The request has expired', code: 'invalid_data' }))
    await assert.rejects(toSign.submit(assertion), { name: 'EnclaveRefused', code: 'request_expired', status: 401 })
    stub.answer((response) => sendJson(response, 500, {}))
    await assert.rejects(toSign.submit(assertion), { name: 'EnclaveUnavailable', status: 500 })
  })

  it('leaves the outcome unknown if a proxy rejects it, because the enclave may have carried it out', async () => {
    for (const status of [400, 401, 403, 404, 413, 422]) {
      stub.answer((response) => sendJson(response, status, { message: 'Blocked', code: 'request_expired' }))
      for (const { prepare } of CHANGES) {
        await assert.rejects(prepare().submit(assertion), { name: 'EnclaveUnavailable', status })
      }
    }
  })
})

describe('an enclave that returns malformed responses', () => {
  const record = { wallet: ids, slots: [slot], slot, rules: [] }
  /** Each call, and the path of its request whose response is malformed. The other requests get proper responses. */
  const CALLS: [string, string, () => Promise<unknown>][] = [
    ['createWallet', '/v1/wallets', async () => enclave.createWallet(newWallet)],
    ['the creation of owners', '/v1/key_quorums', async () => enclave.createWallet(newWallet)],
    ['the creation of a slot', '/v1/policies', async () => enclave.createWallet(newWallet)],
    ['readRules', '/v1/policies/', async () => enclave.readRules(slot)],
    ['readOwners', '/v1/key_quorums/', async () => enclave.readOwners(ids)],
    ['compareRecord', '/v1/wallets/', async () => enclave.compareRecord(record)],
    ['a change of rules', '/v1/policies/', async () => enclave.prepareRules(change).submit(assertion)],
    ['a change of owners', '/v1/key_quorums/', async () => enclave.prepareOwners(owners).submit(assertion)],
  ]
  for (const [name, path, call] of CALLS) {
    for (const body of [null, 'text', {}, [], { id: 'x' }]) {
      const isId = typeof body === 'object' && body !== null && 'id' in body
      // The service reads nothing but the id of the owners and slots that it creates.
      if (isId && name.startsWith('the creation')) continue
      it(`leaves the outcome of ${name} unknown after ${JSON.stringify(body)}`, async () => {
        const accept = create()
        stub.answer((response, request) => {
          const isMalformed = path.endsWith('/') ? request.path.startsWith(path) : request.path === path
          if (isMalformed) return sendJson(response, 200, body)
          if (request.method === 'POST') return accept(response, request)
          sendJson(response, 200, { id: RULES_ID, rules: [], owner_id: OWNERS_ID })
        })
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
