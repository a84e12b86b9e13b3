import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { signerSealContext } from '../../server/src/domain/agents/signer-seal-context.ts'
import { readConfig } from '../../server/src/config.ts'
import { openEnclave } from '../../server/src/enclave/open-enclave.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { createLogger } from '../../server/src/lib/logger.ts'
import { createSealer } from '../../server/src/lib/sealing.ts'
import { microUsdc } from '../../server/src/values/money.ts'
import type { ProxiedRequest } from '../support/wires/enclave-proxy.ts'
import { send, type Answer, call } from '../support/http-client.ts'
import {
  makeAddress,
  createPayer,
  pay,
  readPayment,
  type PayerFixture,
  type PayerOptions,
} from '../support/sandbox/payer-fixture.ts'
import { address } from '../support/context/seed.ts'
import { waitFor } from '../support/wait-for.ts'
import { openSandboxFixture, type OwnSandboxFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'

const HOUR_SECONDS = 60 * 60
/** Longer than an owner's signature is valid (D15). */
const SIGNATURE_SECONDS = 5 * 60 + 1

interface Tampering {
  readonly name: string
  readonly grant: PayerOptions
  /** The SQL that changes the grant's row; `$1` is its id. */
  readonly tamper: string
  readonly payment: Readonly<Record<string, unknown>>
  readonly prepare?: (fixture: SandboxFixture, payer: PayerFixture) => Promise<unknown>
}

const ELSEWHERE = makeAddress()

const TAMPERINGS: readonly Tampering[] = [
  {
    name: 'a wider maximum per transaction',
    grant: { maxPerTxUsdc: '1' },
    tamper: 'max_per_tx_micro = 50000000',
    payment: { amount_usdc: '1.000001' },
  },
  {
    name: 'another recipient',
    grant: { grant: { recipient_allowlist: [makeAddress()] } },
    tamper: `recipient_allowlist = array['${ELSEWHERE}']`,
    payment: { to: ELSEWHERE },
  },
  {
    name: 'any recipient',
    grant: { grant: { recipient_allowlist: [makeAddress()] } },
    tamper: "recipient_allowlist = '{}'",
    payment: {},
  },
  {
    name: 'another contract',
    grant: { grant: { contract_allowlist: [makeAddress()] } },
    tamper: 'contract_allowlist = array[$2]',
    payment: {},
  },
  {
    name: 'no expiry',
    grant: {},
    tamper: 'expires_at = null',
    payment: {},
    prepare: (fixture) => fixture.advanceClock(HOUR_SECONDS + 1),
  },
  {
    name: 'a revoked grant made active again',
    grant: {},
    tamper: "status = 'active', revoked_at = null",
    payment: {},
    prepare: (fixture, { grantId }) => fixture.control(`/grants/${grantId}/revoke`),
  },
]

describe("the enclave refuses on its own, whatever the service's database says", () => {
  let fixture: OwnSandboxFixture
  before(async () => {
    fixture = await openSandboxFixture()
  })
  after(() => fixture.close())

  for (const { name, grant, tamper, payment, prepare } of TAMPERINGS) {
    test(`a record that was tampered with to allow ${name} moves nothing`, async () => {
      const payer = await createPayer(fixture, await withExpiry(grant))
      await prepare?.(fixture, payer)
      const refused = await pay(fixture, payer, payment)
      assert.ok(refused.status === 403 || refused.status === 404, `the pre-check let it pass: ${refused.text}`)

      const usdc = fixture.sandbox.facts.chains.test.usdc
      const values = tamper.includes('$2') ? [payer.grantId, usdc] : [payer.grantId]
      const changed = await fixture.query(`update grants set ${tamper} where id = $1 returning id`, values)
      assert.equal(changed.length, 1)
      const answer = await pay(fixture, payer, payment)
      assert.equal(answer.status, 201, answer.text)
      assert.equal(answer.body.payment.status, 'failed')
      assert.equal(answer.body.payment.tx_hash, null)
      assert.equal((await readPayment(fixture, payer, answer.body.payment.id)).status, 'failed')
      await fixture.control('/chains/test', { mine: 1 })
      assert.equal(await countTransfers(payer), 0)
    })
  }

  test('a payment that the signed policy allows is signed, so the refusals above are about the policy', async () => {
    const payer = await createPayer(fixture, await withExpiry({}))
    assert.equal((await pay(fixture, payer)).body.payment.status, 'pending')
  })

  test("the service's credentials alone change no signer", async () => {
    const payer = await createPayer(fixture)
    const path = await walletPath(payer)
    const before = await askEnclave('GET', path)
    const answer = await askEnclave('PATCH', path, { body: '{"additional_signers":[]}' })
    assert.equal(answer.status, 401, answer.text)
    assert.equal((await askEnclave('GET', path)).text, before.text)
  })

  test("the service's credentials alone change no policy", async () => {
    const payer = await createPayer(fixture)
    const rows = await fixture.query('select enclave_policy_id from grants where id = $1', [payer.grantId])
    const path = `/v1/policies/${String(rows[0]?.['enclave_policy_id'])}`
    const before = await askEnclave('GET', path)
    for (const [method, body] of [['PATCH', '{"rules":[]}'] as const, ['DELETE', undefined] as const]) {
      const answer = await askEnclave(method, path, body === undefined ? {} : { body })
      assert.equal(answer.status, 401, answer.text)
    }
    assert.equal((await askEnclave('GET', path)).text, before.text)
  })

  test("an owner's signature that is replayed after its expiry brings no signer back", async () => {
    const payer = await createPayer(fixture)
    const path = await walletPath(payer)
    const signed = fixture.enclave.requests.findLast((request) => request.method === 'PATCH' && request.path === path)
    assert.ok(signed !== undefined, 'the grant was not signed')
    await fixture.control(`/grants/${payer.grantId}/revoke`)
    assert.deepEqual(await listSigners(path), [])
    await fixture.advanceClock(SIGNATURE_SECONDS)
    const replayed = await askEnclave('PATCH', path, { replay: signed })
    assert.equal(replayed.status, 401, replayed.text)
    assert.match(replayed.text, /expired/)
    assert.deepEqual(await listSigners(path), [])
  })

  test("an owner's signature is good for the request that was signed, and for no other", async () => {
    const payer = await createPayer(fixture)
    const path = await walletPath(payer)
    const signed = fixture.enclave.requests.findLast((request) => request.method === 'PATCH' && request.path === path)
    assert.ok(signed !== undefined, 'the grant was not signed')
    const before = await listSigners(path)
    const answer = await askEnclave('PATCH', path, { replay: signed, body: '{"additional_signers":[]}' })
    assert.equal(answer.status, 401, answer.text)
    const other = await walletPath(await createPayer(fixture))
    assert.equal((await askEnclave('PATCH', other, { replay: signed })).status, 401)
    assert.deepEqual(await listSigners(path), before)
  })

  test("after a grant's revocation the enclave signs nothing for the agent's own key", async () => {
    const payer = await createPayer(fixture)
    assert.equal((await sendAsAgent(payer, 'before')).kind, 'accepted')
    await fixture.control(`/grants/${payer.grantId}/revoke`)
    const refused = await pay(fixture, payer)
    assert.deepEqual([refused.status, refused.body.error.code], [404, 'permission_not_found'])
    assert.equal((await sendAsAgent(payer, 'after')).kind, 'refused')
    await waitFor('the first transfer is mined', async () => (await countTransfers(payer)) === 1)
    await fixture.control('/chains/test', { mine: 2 })
    assert.equal(await countTransfers(payer), 1)
  })

  async function withExpiry({ grant, ...options }: PayerOptions): Promise<PayerOptions> {
    const { now } = (await call(fixture.sandbox.facts.control_url, 'GET', '/')).body
    const expiresAt = new Date(Date.parse(now) + HOUR_SECONDS * 1_000)
    return { ...options, grant: { ...grant, expires_at: expiresAt.toISOString() } }
  }

  async function countTransfers({ wallet }: PayerFixture): Promise<number> {
    return (await fixture.chains.test.listTransfers(wallet)).length
  }

  /** Returns the wallet's path at the enclave. */
  async function walletPath({ wallet }: PayerFixture): Promise<string> {
    const rows = await fixture.query('select enclave_wallet_id from wallets where address = $1', [wallet])
    return `/v1/wallets/${String(rows[0]?.['enclave_wallet_id'])}`
  }

  async function listSigners(path: string): Promise<unknown> {
    const wallet = JSON.parse((await askEnclave('GET', path)).text) as { additional_signers: unknown }
    return wallet.additional_signers
  }

  /**
   * Calls the enclave with the service's own credentials. `replay` sends the headers and the body of an earlier
   * request.
   */
  async function askEnclave(
    method: string,
    path: string,
    { replay, body = replay?.body }: { replay?: ProxiedRequest; body?: string | Buffer | undefined } = {},
  ): Promise<Answer> {
    const { PRIVY_API_URL: url = '', PRIVY_APP_ID: id = '', PRIVY_APP_SECRET: secret = '' } = fixture.environment()
    const signed = Object.entries(replay?.headers ?? {}).filter(([name]) => name.startsWith('privy-'))
    const basic = Buffer.from(`${id}:${secret}`).toString('base64')
    const headers = Object.entries({
      authorization: `Basic ${basic}`,
      'privy-app-id': id,
      ...Object.fromEntries(signed),
    })
    return await send(url, { method, path, body, headers: headers.flat().map(String) })
  }

  /** Sends a transfer directly to the enclave, as somebody who has stolen the service's keys could. */
  async function sendAsAgent({ wallet, agentId, recipient }: PayerFixture, reference: string) {
    const rows = await fixture.query(
      `select w.account_id, w.enclave_wallet_id, a.signer_private_key_sealed from wallets w
        join agents a on a.account_id = w.account_id and a.mode = w.mode where w.address = $1`,
      [wallet],
    )
    const [row] = rows
    const config = readConfig(fixture.environment())
    const context = signerSealContext(String(row?.['account_id']), 'test', agentId)
    const clock = createClock(config.clockOffsetMs)
    const enclave = openEnclave({ ...config.enclave, timeoutMs: 5_000 }, { clock, logger: createLogger('silent') })
    try {
      return await enclave.sendTransfer({
        enclaveWalletId: String(row?.['enclave_wallet_id']),
        signerPrivateKey: createSealer(config.encryptionKey).open(
          row?.['signer_private_key_sealed'] as Buffer,
          context,
        ),
        chainId: config.chains.test.chainId,
        contract: config.chains.test.usdc,
        to: address(recipient),
        amountMicro: microUsdc(1n),
        sponsored: true,
        referenceId: `${agentId} ${reference}`,
        attemptKey: `${agentId} ${reference}`,
        expiresAt: new Date(clock.now().getTime() + 10_000),
      })
    } finally {
      enclave.close()
    }
  }
})
