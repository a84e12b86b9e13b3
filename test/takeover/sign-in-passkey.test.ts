import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { formatSignedPayload } from '../../sandbox/src/enclave/check-authorization.ts'
import { createSoftwarePasskey, type SoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import {
  APP_ID,
  CAIP2,
  makeDataDir,
  removeDataDir,
  startTestEnclave,
  type TestEnclave,
} from '../../sandbox/test/support/test-enclave.ts'

/** An address where nothing listens. The tests only check signatures, so no transaction has to reach a chain. */
const NO_CHAIN = 'http://127.0.0.1:9'
const EXPIRY_MS = 5 * 60_000

interface EnclaveRequest {
  readonly method: 'POST' | 'PATCH'
  readonly path: string
  readonly body: object
}

describe('a service that turns a sign-in into a signature', () => {
  const wallet = createSoftwarePasskey({ rpId: 'signer.localhost', origin: 'http://signer.localhost' })
  const signIn = createSoftwarePasskey({ rpId: 'localhost', origin: 'http://localhost' })
  let enclave: TestEnclave
  let requests: readonly EnclaveRequest[]
  before(async () => {
    enclave = await startTestEnclave({ dataDir: await makeDataDir(), rpcUrl: NO_CHAIN })
    const quorum = await create('/v1/key_quorums', { public_keys: [wallet.publicKeySpki], authorization_threshold: 1 })
    const policy = await create('/v1/policies', {
      version: '1.0',
      name: 'Slot 1',
      chain_type: 'ethereum',
      rules: [],
      owner_id: quorum,
    })
    const id = await create('/v1/wallets', { chain_type: 'ethereum', owner_id: quorum })
    const attacker = createSoftwarePasskey({ rpId: 'localhost', origin: 'http://localhost' }).publicKeySpki
    const rule = { name: 'Everything', method: '*', action: 'ALLOW', conditions: [] }
    const transaction = { to: `0x${'22'.repeat(20)}`, data: '0x', value: '0x1', chain_id: 84_532 }
    requests = [
      { method: 'PATCH', path: `/v1/policies/${policy}`, body: { rules: [rule] } },
      {
        method: 'PATCH',
        path: `/v1/key_quorums/${quorum}`,
        body: { public_keys: [wallet.publicKeySpki, attacker], authorization_threshold: 1 },
      },
      {
        method: 'POST',
        path: `/v1/wallets/${id}/rpc`,
        body: { method: 'eth_sendTransaction', chain_type: 'ethereum', caip2: CAIP2, params: { transaction } },
      },
      // This request is the last one, because after it the wallet passkey no longer owns the wallet.
      { method: 'PATCH', path: `/v1/wallets/${id}`, body: { owner: { public_key: attacker } } },
    ]
  })
  after(async () => {
    await enclave.stop()
    await removeDataDir(enclave.dataDir)
  })

  async function create(path: string, body: object): Promise<string> {
    const { status, body: made } = await enclave.request('POST', path, { body })
    assert.equal(status, 200, JSON.stringify(made))
    return String(made['id'])
  }

  /** Sends a request that the passkey has signed as the challenge of a sign-in. */
  async function send({ method, path, body }: EnclaveRequest, passkey: SoftwarePasskey): Promise<number> {
    const expiry = String(Date.now() + EXPIRY_MS)
    const url = `${enclave.url}${path}`
    const payload = formatSignedPayload({ method, url, body, appId: APP_ID, idempotencyKey: null, expiry })
    const { authenticatorData, clientDataJSON, signature } = passkey.assert(payload).response
    const headers = {
      'privy-authorization-signature': `webauthn:${authenticatorData}:${clientDataJSON}:${signature}`,
      'privy-request-expiry': expiry,
    }
    return (await enclave.request(method, path, { body, headers })).status
  }

  test('is refused by the enclave for grants, owners and withdrawals: sign-in passkeys own nothing', async () => {
    for (const request of requests) assert.equal(await send(request, signIn), 401, request.path)
  })

  test('the same requests are accepted from the wallet passkey, so it is the passkey that matters', async () => {
    for (const request of requests) assert.notEqual(await send(request, wallet), 401, request.path)
  })
})
