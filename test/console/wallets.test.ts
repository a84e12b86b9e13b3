import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Wallet } from '../../server/src/console/contract/wallets.ts'
import type { SoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import { RECENT_PROOF_MS } from '../../server/src/domain/require-recent-proof.ts'
import { readAudit } from '../support/context/audit.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError } from '../support/http-client.ts'
import { addWalletOwner } from '../support/context/people.ts'
import { openConnections, readRows } from '../support/database/read-rows.ts'
import { address, seed, seedWallet } from '../support/context/seed.ts'
import { openConsoleFixture, type ConsoleFixture } from './console-fixture.ts'
import { openVisitor, verify } from './person.ts'

const NO_WALLET = { type: 'not_found', code: 'wallet_not_found' } as const
const KEY = { credential_id: 'AAAA' } as const
const NO_PASSKEY = { type: 'not_found', code: 'passkey_not_found' } as const

describe('wallets in the dashboard', () => {
  let server: ConsoleServer
  let fixture: ConsoleFixture
  /** The wallet passkey of the fixture's person. */
  let owner: SoftwarePasskey
  let offsetMs = 0
  before(async () => {
    server = await openConsoleServer()
  })
  beforeEach(async () => {
    fixture = await openConsoleFixture(server)
    owner = await addWalletOwner(server.context, fixture.userId)
    for (const chain of [server.chains.test, server.chains.live]) chain.down = false
  })
  after(() => server.close())

  test('a wallet is made under a wallet passkey of the person who makes it, and shown with what it holds', async () => {
    server.chains.test.balanceMicro = 12_500_000n
    const made = await create({ name: ' Treasury ' })
    const expected = {
      ...{ address: address(made.address), mode: 'test', name: 'Treasury', created_at: made.created_at },
      owners: [
        {
          ...{ credential_id: owner.credentialId, name: 'Wallet passkey', user_name: 'Ada', is_member: true },
          is_mine: true,
          ...{ has_record: false, added_at: made.created_at },
        },
      ],
      ...{ is_at_risk: false, balance_usdc: '12.5', coin: null, grants: 0 },
    }
    assert.deepEqual(made, expected)
    assert.deepEqual(await list(), [expected])
    assert.deepEqual(await get(made.address), expected)
    assert.deepEqual(await get(made.address.toLowerCase()), expected)
    assert.deepEqual(await list('live'), [])
    assert.deepEqual((await readAudit(server.context.db, fixture.workspace.id)).at(-1), {
      ...{ actor_kind: 'user', actor_id: fixture.userId, action: 'wallet.created', subject: made.address },
      details: { mode: 'test', name: 'Treasury', credential_id: owner.credentialId },
    })
  })

  test('the newest wallet is last in the list', async () => {
    const names = ['b', 'a', 'c']
    for (const name of names) await create({ name })
    assert.deepEqual(
      (await list()).map(({ name }) => name),
      names,
    )
  })

  test('a wallet passkey of the caller owns it; a sign-in passkey, or somebody else’s, is not found', async () => {
    const second = await addWalletOwner(server.context, fixture.userId, 'Laptop')
    assert.equal((await create()).owners[0]?.name, 'Wallet passkey')
    assert.equal((await create({ credential_id: second.credentialId })).owners[0]?.name, 'Laptop')
    const other = await openVisitor(server)
    const foreign = await addWalletOwner(server.context, other.userId)
    for (const id of [fixture.passkey.credentialId, other.passkey.credentialId, foreign.credentialId, 'AAAA']) {
      const body = { mode: 'live', name: 'W', credential_id: id }
      await fixture.browser.refuse('POST', fixture.at('wallets'), NO_PASSKEY, body)
    }
    assert.deepEqual(await list('live'), [])
  })

  test('a name has a hundred characters, whatever they are made of', async () => {
    assert.equal((await create({ name: '🦊'.repeat(100) })).name, '🦊'.repeat(100))
  })

  test('a wallet requires a recent proof by passkey', async () => {
    server.clock.setOffset((offsetMs += RECENT_PROOF_MS))
    const unverified = { type: 'forbidden', code: 'verification_required' } as const
    await fixture.browser.refuse('POST', fixture.at('wallets'), unverified, {
      ...{ mode: 'test', name: 'W', credential_id: owner.credentialId },
    })
    assert.deepEqual(await list(), [])
    await verify(fixture.browser, fixture.passkey)
    await create()
  })

  test('of ten created at once, only as many succeed as the plan allows', async () => {
    await openConnections(server.context.db)
    const body = { mode: 'test', name: 'Race', credential_id: owner.credentialId }
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => fixture.browser.call('POST', fixture.at('wallets'), body)),
    )
    const refused = answers.filter(({ status }) => status !== 201)
    assert.equal(refused.length, 7)
    for (const answer of refused) {
      const { details } = expectError(answer, { type: 'validation_failed', code: 'wallet_cap_reached' })
      assert.deepEqual(details, { wallets_max: 3 })
    }
    assert.equal((await list()).length, 3)
  })

  test('while the chain does not respond, balances are unknown and everything else is shown', async () => {
    await create()
    await create()
    server.clock.setOffset((offsetMs += 16_000))
    server.chains.test.down = true
    const wallets = await list()
    assert.deepEqual(
      wallets.map(({ balance_usdc: balance }) => balance),
      [null, null],
    )
    assert.equal((await get(String(wallets[0]?.address))).balance_usdc, null)
    assert.equal((await create()).balance_usdc, null)
    assert.equal((await create({ mode: 'live' })).balance_usdc, '1000000000')
  })

  test('the balances in the list are a few seconds old, that of a single wallet is current', async () => {
    server.chains.test.balanceMicro = 1_000_000n
    const { address: wallet } = await create()
    server.chains.test.balanceMicro = 2_000_000n
    server.clock.setOffset((offsetMs += 10_000))
    assert.equal((await list())[0]?.balance_usdc, '1')
    assert.equal((await get(wallet)).balance_usdc, '2')
    server.chains.test.balanceMicro = 3_000_000n
    server.clock.setOffset((offsetMs += 16_000))
    assert.equal((await list())[0]?.balance_usdc, '3')
  })

  test('of very many wallets, the balances of the newest hundred are read', async () => {
    const workspace = fixture.workspace
    for (let count = 0; count < 105; count += 1) await seedWallet(server.context, { workspace, mode: 'test' })
    const balances = (await list()).map(({ balance_usdc: balance }) => balance)
    assert.equal(balances.length, 105)
    assert.ok(balances.slice(0, 5).every((balance) => balance === null))
    assert.ok(balances.slice(5).every((balance) => balance !== null))
  })

  test('a wallet shows its grants, except the revoked ones', async () => {
    const seeded = await seed(server.context)
    const { browser } = await openConsoleFixture(server, { workspace: seeded.workspace, role: 'viewer' })
    const path = `/console/workspaces/${seeded.workspace.slug}/wallets/${seeded.wallet}?mode=test`
    const count = async () => (await browser.ask<{ wallet: Wallet }>('GET', path)).wallet.grants
    assert.equal(await count(), 1)
    const revoke = `update grants set status = 'revoked', revoked_at = created_at where id = $1`
    await readRows(server.context.db, revoke, [seeded.grant.id])
    assert.equal(await count(), 0)
  })

  test('a wallet of another workspace or mode, and an unknown one, are not found', async () => {
    const made = await create()
    const other = await openConsoleFixture(server)
    await other.browser.refuse('GET', `${other.at(`wallets/${made.address}`)}?mode=test`, NO_WALLET)
    await fixture.browser.refuse('GET', `${fixture.at(`wallets/${made.address}`)}?mode=live`, NO_WALLET)
    for (const text of ['x', '0x12', `${made.address}0`]) {
      await fixture.browser.refuse('GET', `${fixture.at(`wallets/${text}`)}?mode=test`, NO_WALLET)
    }
  })

  const bodies: readonly (readonly [string, object])[] = [
    ['mode', { name: 'W', ...KEY }],
    ['mode', { mode: 'prod', name: 'W', ...KEY }],
    ['name', { mode: 'test', ...KEY }],
    ['name', { name: ' ', mode: 'test', ...KEY }],
    ['name', { name: 'x'.repeat(101), mode: 'test', ...KEY }],
    ['name', { name: 'a\nb', mode: 'test', ...KEY }],
    ['name', { name: '\u200b\u3164\u00ad', mode: 'test', ...KEY }],
    ['name', { name: 'a\u202eb', mode: 'test', ...KEY }],
    ['credential_id', { mode: 'test', name: 'W' }],
    ['credential_id', { mode: 'test', name: 'W', credential_id: '' }],
    ['credential_id', { mode: 'test', name: 'W', credential_id: 'a+b' }],
    ['credential_id', { mode: 'test', name: 'W', credential_id: 7 }],
  ]
  for (const [member, body] of bodies) {
    test(`${JSON.stringify(body).slice(0, 50)} is 400, and the error names ${member}`, async () => {
      const answer = await fixture.browser.call('POST', fixture.at('wallets'), body)
      const details = expectError(answer, { type: 'validation_failed' }).details as { path: string }[]
      assert.equal(details[0]?.path, member)
      assert.deepEqual(await list(), [])
    })
  }

  async function create(wanted: object = {}): Promise<Wallet> {
    const body = { mode: 'test', name: 'Wallet', credential_id: owner.credentialId, ...wanted }
    return (await fixture.browser.ask<{ wallet: Wallet }>('POST', fixture.at('wallets'), body, 201)).wallet
  }

  async function list(mode = 'test'): Promise<readonly Wallet[]> {
    return (await fixture.browser.ask<{ wallets: Wallet[] }>('GET', `${fixture.at('wallets')}?mode=${mode}`)).wallets
  }

  async function get(wallet: string): Promise<Wallet> {
    return (await fixture.browser.ask<{ wallet: Wallet }>('GET', `${fixture.at(`wallets/${wallet}`)}?mode=test`)).wallet
  }
})
