import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { readConfig } from '../../server/src/config.ts'
import { slotSealContext } from '../../server/src/domain/wallets/slot-seal-context.ts'
import { openEnclave } from '../../server/src/enclave/privy/open-enclave.ts'
import { createClock } from '../../server/src/lib/clock.ts'
import { createLogger } from '../../server/src/lib/logger.ts'
import { createSealer } from '../../server/src/lib/sealing.ts'
import { microUsdc } from '../../server/src/values/money.ts'
import { FEW_SLOTS } from '../support/few-slots.ts'
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
import { openClockFixture, type SandboxFixture } from '../support/sandbox/sandbox-fixture.ts'

const HOUR_SECONDS = 60 * 60
/** An owner's signature expires after five minutes (D15). This is a second longer. */
const SIGNATURE_SECONDS = 5 * 60 + 1

interface Tampering {
  readonly name: string
  readonly grant: PayerOptions
  /** The SQL that changes the grant's row in the database. `$1` is the grant's id. */
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

describe("the enclave enforces the signed policy, whatever the service's database contains", () => {
  let fixture: SandboxFixture
  before(async () => {
    fixture = await openClockFixture()
  })

  for (const { name, grant, tamper, payment, prepare } of TAMPERINGS) {
    test(`a database row that was changed to allow ${name} moves no money`, async () => {
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

  test('a payment that the signed policy allows is signed, which shows that the policy caused the rejections above', async () => {
    const payer = await createPayer(fixture, await withExpiry({}))
    assert.equal((await pay(fixture, payer)).body.payment.status, 'pending')
  })

  test("the service's credentials alone change no signer and no owner", async () => {
    const payer = await createPayer(fixture)
    const path = await walletPath(payer)
    const before = await askEnclave('GET', path)
    for (const body of ['{"additional_signers":[]}', '{"owner_id":null}']) {
      const answer = await askEnclave('PATCH', path, { body })
      assert.equal(answer.status, 401, answer.text)
    }
    const { owner_id: owner } = JSON.parse(before.text) as { owner_id: string }
    const members = await askEnclave('PATCH', `/v1/key_quorums/${owner}`, { body: '{"display_name":"x"}' })
    assert.equal(members.status, 401, members.text)
    assert.equal((await askEnclave('GET', path)).text, before.text)
  })

  test("the service's credentials alone cannot change a policy", async () => {
    const payer = await createPayer(fixture)
    const path = await policyPath(payer)
    const before = await askEnclave('GET', path)
    for (const [method, body] of [['PATCH', '{"rules":[]}'] as const, ['DELETE', undefined] as const]) {
      const answer = await askEnclave(method, path, body === undefined ? {} : { body })
      assert.equal(answer.status, 401, answer.text)
    }
    assert.equal((await askEnclave('GET', path)).text, before.text)
  })

  test("an owner's signature that is replayed after its expiry brings no rules back", async () => {
    const payer = await createPayer(fixture)
    const path = await policyPath(payer)
    const signed = fixture.enclave.requests.findLast((request) => request.method === 'PATCH' && request.path === path)
    assert.ok(signed !== undefined, 'the grant was not signed')
    await fixture.control(`/grants/${payer.grantId}/revoke`)
    assert.deepEqual(await listRules(path), [])
    await fixture.advanceClock(SIGNATURE_SECONDS)
    const replayed = await askEnclave('PATCH', path, { replay: signed })
    assert.equal(replayed.status, 401, replayed.text)
    assert.match(replayed.text, /expired/)
    assert.deepEqual(await listRules(path), [])
  })

  test("an owner's signature is valid only for the request that was signed", async () => {
    const payer = await createPayer(fixture)
    const path = await policyPath(payer)
    const signed = fixture.enclave.requests.findLast((request) => request.method === 'PATCH' && request.path === path)
    assert.ok(signed !== undefined, 'the grant was not signed')
    const before = await listRules(path)
    const wider = String(signed.body).replace('"lte"', '"gte"')
    assert.notEqual(wider, String(signed.body))
    for (const body of ['{"rules":[]}', wider]) {
      const answer = await askEnclave('PATCH', path, { replay: signed, body })
      assert.equal(answer.status, 401, answer.text)
    }
    const [free, other] = [await policyPath(payer, FEW_SLOTS), await policyPath(await createPayer(fixture))]
    for (const elsewhere of [free, other]) {
      assert.equal((await askEnclave('PATCH', elsewhere, { replay: signed })).status, 401)
    }
    assert.deepEqual([await listRules(path), await listRules(free)], [before, []])
  })

  test('the key of a slot that no grant uses moves nothing', async () => {
    const payer = await createPayer(fixture)
    assert.equal((await sendWithSlot(payer, 'free', FEW_SLOTS)).kind, 'refused')
    assert.equal((await sendWithSlot(payer, 'used', 1)).kind, 'accepted')
  })

  test("after a grant's revocation the enclave signs nothing for the key of its slot", async () => {
    const payer = await createPayer(fixture)
    assert.equal((await sendWithSlot(payer, 'before')).kind, 'accepted')
    await fixture.control(`/grants/${payer.grantId}/revoke`)
    const refused = await pay(fixture, payer)
    assert.deepEqual([refused.status, refused.body.error.code], [404, 'permission_not_found'])
    assert.equal((await sendWithSlot(payer, 'after')).kind, 'refused')
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

  /** Returns the path of the payer's wallet in the enclave's API. */
  async function walletPath({ wallet }: PayerFixture): Promise<string> {
    const rows = await fixture.query('select enclave_wallet_id from wallets where address = $1', [wallet])
    return `/v1/wallets/${String(rows[0]?.['enclave_wallet_id'])}`
  }

  /**
   * Returns the path of a slot's policy at the enclave. The payer's grant uses the first slot, which is the default.
   */
  async function policyPath({ wallet }: PayerFixture, slot = 1): Promise<string> {
    const text = 'select enclave_policy_id from wallet_slots where wallet_address = $1 and slot = $2'
    const rows = await fixture.query(text, [wallet, slot])
    return `/v1/policies/${String(rows[0]?.['enclave_policy_id'])}`
  }

  async function listRules(path: string): Promise<unknown> {
    return (JSON.parse((await askEnclave('GET', path)).text) as { rules: unknown }).rules
  }

  /**
   * Calls the enclave with the service's own credentials. With `replay`, sends the headers and the body of an earlier
   * request again.
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
  async function sendWithSlot({ wallet, agentId, recipient }: PayerFixture, reference: string, slot = 1) {
    const rows = await fixture.query(
      `select w.workspace_id, w.enclave_wallet_id, s.signer_private_key_sealed from wallets w
        join wallet_slots s on s.wallet_address = w.address where w.address = $1 and s.slot = $2`,
      [wallet, slot],
    )
    const [row] = rows
    const config = readConfig(fixture.environment())
    const place = { workspaceId: String(row?.['workspace_id']), mode: 'test', walletAddress: wallet } as const
    const context = slotSealContext(place, slot)
    const clock = createClock(config.clockOffsetMs)
    const enclave = openEnclave({ ...config.enclave, timeoutMs: 5_000 }, { clock, logger: createLogger('silent') })
    try {
      return await enclave.sendTransfer({
        enclaveWalletId: String(row?.['enclave_wallet_id']),
        signerPrivateKey: createSealer(config.encryptionKeys).open(
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
