import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { makeDataDir, removeDataDir, startTestEnclave } from '../../test/support/test-enclave.ts'
import type { RawAnswer, TestEnclave } from '../../test/support/test-enclave.ts'
import { assertRequest, formatPolicy } from '../../test/support/test-grant.ts'
import { createSoftwarePasskey } from '../software-passkey.ts'
import type { SoftwarePasskey } from '../software-passkey.ts'
import { loadSdk } from '../../test/support/test-client.ts'

/** Owners and slots need no chain here: nothing listens at the chain's address. */
const NO_CHAIN = 'http://127.0.0.1:9'
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const SLOTS = 50
const EXPIRY_MS = 5 * 60_000

describe('owners', () => {
  let enclave: TestEnclave
  before(async () => {
    enclave = await startTestEnclave({ dataDir: await makeDataDir(), rpcUrl: NO_CHAIN })
  })
  after(async () => {
    assert.equal(await enclave.stop(), 0)
    await removeDataDir(enclave.dataDir)
  })

  test('a wallet is created with 50 signers, each under a policy that denies everything until its owner fills it', async () => {
    const passkey = createPasskey()
    const owner = await createQuorum([passkey])
    const policies = await Promise.all(Array.from({ length: SLOTS }, () => createEmptyPolicy(owner)))
    const signers = await Promise.all(
      policies.map(async (policyId) => {
        const { publicKey } = await loadSdk().generateP256KeyPair()
        const quorum = await enclave.client
          .keyQuorums()
          .create({ public_keys: [publicKey], authorization_threshold: 1 })
        return { signer_id: quorum.id, override_policy_ids: [policyId] }
      }),
    )
    const wallet = await enclave.client
      .wallets()
      .create({ chain_type: 'ethereum', owner_id: owner, additional_signers: signers })
    assert.equal(wallet.owner_id, owner)
    assert.deepEqual(wallet.additional_signers, signers)

    const path = `/v1/policies/${policies[0]}`
    const { rules } = formatPolicy(USDC, 1n)
    assert.equal((await enclave.request('PATCH', path, { body: { rules } })).status, 401)
    const stranger = await patch(path, { rules }, createPasskey())
    assert.equal(stranger.status, 401)
    const filled = await patch(path, { rules }, passkey)
    assert.equal(filled.status, 200)
    assert.equal((filled.body['rules'] as unknown[]).length, 1)
    const emptied = await patch(path, { rules: [] }, passkey)
    assert.deepEqual([emptied.status, emptied.body['rules']], [200, []])
  })

  test("a quorum's members are changed by its current members only", async () => {
    const [first, second, third] = [createPasskey(), createPasskey(), createPasskey()]
    const id = await createQuorum([first])
    const path = `/v1/key_quorums/${id}`
    const both = membersOf(first, second)
    assert.equal((await enclave.request('PATCH', path, { body: both })).status, 401)
    assert.equal((await patch(path, both, second)).status, 401, 'the added key cannot add itself')
    const added = await patch(path, both, first)
    assert.equal(added.status, 200)
    const read = await enclave.client.keyQuorums().get(id)
    assert.deepEqual(
      read.authorization_keys.map((member) => member.public_key),
      both.public_keys,
    )
    assert.equal((await patch(path, membersOf(second), second)).status, 200, 'any one member may remove another')
    assert.equal((await patch(path, membersOf(first, third), first)).status, 401, 'a removed key is nobody')
    const renamed = await patch(path, { display_name: 'Owners' }, second)
    assert.deepEqual([renamed.status, renamed.body['display_name']], [200, 'Owners'])
  })

  test("with the fault `keys_as_pem`, a quorum's keys are read as PEM", async () => {
    const passkey = createPasskey()
    const id = await createQuorum([passkey])
    await enclave.orderFault('keys_as_pem')
    const [member] = (await enclave.client.keyQuorums().get(id)).authorization_keys
    assert.match(member?.public_key ?? '', /^-----BEGIN PUBLIC KEY-----\n[^-]+\n-----END PUBLIC KEY-----\n$/)
    assert.equal((await enclave.client.keyQuorums().get(id)).authorization_keys[0]?.public_key, passkey.publicKeySpki)
  })

  test('a quorum of two at threshold two is changed by both signatures, and never by one', async () => {
    const keys = await Promise.all([1, 2].map(async () => await loadSdk().generateP256KeyPair()))
    const [one, two] = keys.map((key) => key.privateKey)
    const client = enclave.client.keyQuorums()
    const quorum = await client.create({ public_keys: keys.map((key) => key.publicKey), authorization_threshold: 2 })
    const lower = (...signing: (string | undefined)[]) =>
      client.update(quorum.id, {
        authorization_threshold: 1,
        authorization_context: { authorization_private_keys: signing.filter((key) => key !== undefined) },
      })
    await assert.rejects(lower(one), { status: 401 })
    assert.equal((await lower(one, two)).authorization_threshold, 1)
    assert.equal((await lower(two)).authorization_threshold, 1, 'then one is enough')
  })

  test('a change that would leave no valid quorum is rejected, and changes nothing', async () => {
    const passkey = createPasskey()
    const id = await createQuorum([passkey])
    const wrong = [
      {},
      { public_keys: [] },
      { authorization_threshold: 2 },
      { authorization_threshold: 0 },
      { public_keys: [passkey.publicKeySpki, passkey.publicKeySpki] },
      { public_keys: ['AAAA'] },
      { user_ids: ['did:privy:1'] },
      { display_name: 'x'.repeat(51) },
    ]
    for (const body of wrong) {
      assert.equal((await patch(`/v1/key_quorums/${id}`, body, passkey)).status, 400, JSON.stringify(body))
    }
    assert.equal((await enclave.client.keyQuorums().get(id)).authorization_keys[0]?.public_key, passkey.publicKeySpki)
  })

  test('a quorum is deleted by its member, and not while it owns something', async () => {
    const passkey = createPasskey()
    const id = await createQuorum([passkey])
    const policyId = await createEmptyPolicy(id)
    const remove = async (path: string, headers = {}) => await enclave.request('DELETE', path, { headers })
    const signed = (path: string) => remove(path, sign('DELETE', path, '', passkey))
    assert.equal((await remove(`/v1/key_quorums/${id}`)).status, 401)
    const used = await signed(`/v1/key_quorums/${id}`)
    assert.deepEqual([used.status, used.body.code], [400, 'authorization_key_has_associated_wallets'])
    assert.equal((await signed(`/v1/policies/${policyId}`)).status, 200)
    assert.deepEqual((await signed(`/v1/key_quorums/${id}`)).body, { success: true })
    assert.equal((await enclave.request('GET', `/v1/key_quorums/${id}`)).status, 404)
  })

  async function createQuorum(passkeys: readonly SoftwarePasskey[]): Promise<string> {
    return (await enclave.client.keyQuorums().create(membersOf(...passkeys))).id
  }

  async function createEmptyPolicy(owner: string): Promise<string> {
    const body = { version: '1.0', name: 'slot', chain_type: 'ethereum', rules: [], owner_id: owner } as const
    return (await enclave.client.policies().create(body)).id
  }

  async function patch(path: string, body: object, passkey: SoftwarePasskey): Promise<RawAnswer> {
    return await enclave.request('PATCH', path, { body, headers: sign('PATCH', path, body, passkey) })
  }

  function sign(method: string, path: string, body: unknown, passkey: SoftwarePasskey): Record<string, string> {
    const expiry = Date.now() + EXPIRY_MS
    const signature = assertRequest(passkey, { method, url: enclave.url + path, body, expiry })
    return { 'privy-authorization-signature': signature, 'privy-request-expiry': String(expiry) }
  }
})

function createPasskey(): SoftwarePasskey {
  return createSoftwarePasskey({ rpId: 'signer.localhost', origin: 'http://signer.localhost:4000' })
}

function membersOf(...passkeys: readonly SoftwarePasskey[]) {
  return { public_keys: passkeys.map((passkey) => passkey.publicKeySpki), authorization_threshold: 1 }
}
