import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { address } from '../../../test/support/context/seed.ts'
import { answerJson, startFakeServer, type FakeServer } from '../../../test/support/wires/fake-server.ts'
import { createClock } from '../lib/clock.ts'
import { openChainView } from './chain-view.ts'
import { checkAllSlots, checkOwners, checkRevocation, checkWithdrawal } from './check-owners.ts'
import type { CheckRun } from './check-run.ts'
import { createPasskey } from './create-passkey.ts'
import type { Outcome } from './outcome.ts'
import { openProviderWire } from './provider-wire.ts'

/** What the provider answers to a request: a status and a body. Null means the usual answer. */
type Answer = readonly [status: number, body: object] | null
type Fake = (request: { method: string; path: string; body: Record<string, unknown>; isSigned: boolean }) => Answer

const USDC = address(`0x${'2'.repeat(40)}`)
const ORIGIN = 'http://localhost:4101'
const DENIED = { error: 'denied', code: 'policy_violation' }

describe('the steps of the provider check about owners', () => {
  let provider: FakeServer
  let run: CheckRun
  let fake: Fake = () => null
  let created = 0
  const wallet = {
    id: 'wallet',
    address: address(`0x${'3'.repeat(40)}`),
    ownerId: 'owner',
    slot: { signerId: 'signer', policyId: 'policy' },
  }
  before(async () => {
    provider = await startFakeServer((request, text, response) => {
      const { method = '', url: path = '', headers } = request
      const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
      const isSigned = headers['privy-authorization-signature'] !== undefined
      created += 1
      const [status, answer] = fake({ method, path, body, isSigned }) ?? [200, { id: `id-${created}`, ...body }]
      answerJson(response, answer, status)
    })
    const settings = {
      mode: 'test',
      chainId: 84532,
      rpcUrls: ['http://127.0.0.1:9'],
      usdc: USDC,
      confirmations: 1,
    } as const
    run = {
      wire: openProviderWire({ apiUrl: provider.url, appId: 'app', appSecret: 'secret' }, null),
      chain: openChainView(settings, null),
      settings: { ...settings, gas: 'sponsored', explorerUrl: null },
      proxy: null,
      clock: createClock(),
      passkey: createPasskey(ORIGIN),
      secondPasskey: createPasskey(ORIGIN),
      agent: { publicKey: '', sign: () => '' },
      runId: 'check-1',
    }
  })
  after(() => provider.close())

  test('the wallet with all slots differs if the provider keeps fewer of them, or does not accept them', async () => {
    let written: object = {}
    const store: Fake = ({ method, path, body }) => {
      if (!path.startsWith('/v1/wallets')) return null
      if (method === 'POST') written = { id: 'slots', ...body }
      return [200, written]
    }
    expect(await see(checkAllSlots, store), 'same', /50 signers as written; read back: 50 signers as written$/)
    const forget: Fake = (request) => {
      const answer = store(request)
      return request.method === 'GET' ? [200, { ...answer?.[1], additional_signers: [] }] : answer
    }
    expect(await see(checkAllSlots, forget), 'differs', /read back: 0 signers as written$/)
    const refuse: Fake = ({ path }) => (path === '/v1/wallets' ? [400, { error: 'too many signers' }] : null)
    expect(await see(checkAllSlots, refuse), 'differs', /^400 "too many signers"$/)
    const noPolicy: Fake = ({ path }) => (path === '/v1/policies' ? [400, { error: 'no rules' }] : null)
    expect(await see(checkAllSlots, noPolicy), 'differs', /^creating the policy: 400 "no rules"$/)
  })

  test('the revocation differs if rules remain, or if the signer can still send', async () => {
    const deny: Fake = ({ path }) => (path.endsWith('/rpc') ? [400, DENIED] : [200, { rules: [] }])
    expect(await see(checkRevocation, deny), 'same', /^200, no rules; read back: no rules; .*: 400 policy_violation/)
    const send: Fake = ({ path }) => (path.endsWith('/rpc') ? [200, {}] : [200, { rules: [] }])
    expect(await see(checkRevocation, send), 'differs', /by the signer: 200$/)
    const keep: Fake = ({ path, method }) =>
      path.endsWith('/rpc') ? [400, DENIED] : [200, { rules: method === 'GET' ? [{}] : [] }]
    expect(await see(checkRevocation, keep), 'differs', /read back: still rules;/)
  })

  test('the change of owners differs if other keys are read back, or if nobody has to sign it', async () => {
    const quorum = (...keys: readonly string[]): Fake => {
      const members = keys.map((key) => ({ public_key: key }))
      return ({ method, isSigned }) => {
        if (method === 'GET') return [200, { authorization_keys: members }]
        return isSigned ? [200, {}] : [401, {}]
      }
    }
    const [first, second] = [run.passkey.publicKey, run.secondPasskey.publicKey]
    expect(await see(checkOwners, quorum(second, first)), 'same', /both keys, in the form that was sent/)
    const pem = `-----BEGIN PUBLIC KEY-----\n${second}\n-----END PUBLIC KEY-----\n`
    expect(await see(checkOwners, quorum(first, pem)), 'same', /both keys, in another form/)
    expect(await see(checkOwners, quorum(first)), 'differs', /read back: other keys;/)
    const lax: Fake = (request) => quorum(first, second)({ ...request, isSigned: true })
    expect(await see(checkOwners, lax), 'differs', /unsigned: 200;/)
  })

  test("the owner's transfer names the wallet as its sender, and differs if it is refused", async () => {
    const senders: unknown[] = []
    const refuse: Fake = ({ body }) => {
      senders.push((body['params'] as { transaction: { from?: string } }).transaction.from)
      return [400, DENIED]
    }
    expect(await see(checkWithdrawal, refuse), 'differs', /^400 policy_violation/)
    assert.deepEqual(senders, [wallet.address])
  })

  async function see(check: (run: CheckRun, on: typeof wallet) => Promise<Outcome>, answer: Fake): Promise<Outcome> {
    fake = answer
    return await check(run, wallet)
  }
})

function expect({ verdict, actual }: Outcome, expected: Outcome['verdict'], pattern: RegExp): void {
  assert.match(actual, pattern)
  assert.equal(verdict, expected)
}
