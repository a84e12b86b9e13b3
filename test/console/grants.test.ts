import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { ProblemCode } from '../../server/src/values/problem.ts'
import { GRANT_RECIPIENTS_MAX, PURCHASE_RECIPIENTS_MAX } from '../../server/src/domain/grants/grant.ts'
import { readAudit } from '../support/context/audit.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { openSandboxEnclave } from '../support/context/enclave-context.ts'
import { expectError, type Answer } from '../support/http-client.ts'
import { answer } from '../support/context/people.ts'
import { readRows } from '../support/database/read-rows.ts'
import { address, seed, seedGrant, seedWallet } from '../support/context/seed.ts'
import { Browser } from './browser.ts'
import { GrantFixture, TERMS, type WireGrant } from './grant-fixture.ts'
import { openVisitor } from './person.ts'

const [NOT_FOUND, INVALID] = [{ type: 'not_found' }, { type: 'validation_failed' }] as const
const SIGNING_REQUEST_MS = 5 * 60 * 1_000

const listRecipients = (count: number) =>
  Array.from({ length: count }, (_, index) => address(`0x${String(index + 1).padStart(40, '0')}`))

/** The whole life of a grant, from opening to revoking, with the owner's signatures (D14, D15). */
describe('grants in the dashboard', () => {
  let server: ConsoleServer
  let fixture: GrantFixture
  before(async () => {
    const { use } = await openSandboxEnclave()
    server = await openConsoleServer(use)
  })
  beforeEach(async () => {
    fixture = await GrantFixture.open(server)
  })
  after(() => server.close())

  test('is opened for the owner to sign, and shown with all its facts', async () => {
    const recipient = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
    const expiresAt = '2999-01-01T00:00:00.000Z'
    const made = await fixture.create({ recipient_allowlist: [recipient.toLowerCase()], expires_at: expiresAt })
    assert.match(made.id, /^grt_[0-9A-HJKMNP-TV-Z]{26}$/)
    assert.deepEqual(made, {
      id: made.id,
      mode: 'test',
      agent_id: fixture.agentId,
      wallet: fixture.wallet,
      wallet_name: 'Treasury',
      max_per_tx_usdc: '1.5',
      daily_cap_usdc: '10',
      recipient_allowlist: [recipient],
      contract_allowlist: [server.config.chains.test.usdc],
      expires_at: expiresAt,
      x402: false,
      status: 'pending',
      state: 'pending',
      spent_24h_usdc: '0',
      remaining_24h_usdc: '10',
      replaces: null,
      replaced_by: null,
      activated_by: null,
      ...{ is_mine_to_sign: true, other_signers: [], created_by: 'Ada', by_former_member: false },
      created_at: made['created_at'],
      activated_at: null,
      suspended_at: null,
      revoked_at: null,
    })
    assert.deepEqual(await fixture.show(made.id), made)
    assert.deepEqual(await fixture.list(), [made])
  })

  test('is signed by a wallet passkey that owns the wallet, over its complete terms', async () => {
    const { id } = await fixture.create()
    const { grant, signing_request: request } = await fixture.requestSignature(id, 'activate')
    assert.equal(grant.status, 'pending')
    assert.ok(request !== null)
    const { payload, expires_at: expiresAt, credentials, before } = request
    const left = Date.parse(expiresAt) - Date.now()
    assert.ok(left > SIGNING_REQUEST_MS - 10_000 && left <= SIGNING_REQUEST_MS, String(left))
    const { credentialId, publicKeySpki } = fixture.owner
    assert.deepEqual(credentials, [{ id: credentialId, public_key: publicKeySpki, name: 'Wallet passkey' }])
    assert.deepEqual(before, [])
    const signed = JSON.parse(Buffer.from(payload, 'base64url').toString()) as {
      url: string
      body: { rules: unknown[] }
    }
    assert.match(signed.url, /\/v1\/policies\/[^/]+$/)
    const terms = JSON.stringify(signed.body.rules)
    assert.ok(terms.includes(id) && terms.includes('"1500000"'), 'the signature covers the terms')
    const body = { response: answer(fixture.owner, { challenge: payload }) }
    const { grant: active } = await fixture.person.browser.ask<{ grant: WireGrant }>(
      'POST',
      fixture.at(`grants/${id}/signature`),
      body,
    )
    const activatedAt = active['activated_at']
    assert.equal(typeof activatedAt, 'string')
    const shown = { status: 'active', state: 'active', activated_by: 'Ada', activated_at: activatedAt }
    assert.deepEqual(active, { ...grant, ...shown })
  })

  test('with as many recipients as a grant can have is signed, although the signature contains all of them', async () => {
    const { id } = await fixture.create({ recipient_allowlist: listRecipients(GRANT_RECIPIENTS_MAX) })
    assert.equal((await fixture.sign(id, 'activate')).status, 'active')
  })

  test('with purchases is signed over both rules, and has fewer recipients', async () => {
    const terms = { ...TERMS, x402: true, recipient_allowlist: listRecipients(PURCHASE_RECIPIENTS_MAX) }
    const { id } = await fixture.create(terms)
    assert.equal((await fixture.sign(id, 'activate'))['x402'], true)
    const tooMany = { ...terms, recipient_allowlist: listRecipients(PURCHASE_RECIPIENTS_MAX + 1) }
    await fixture.person.browser.refuse('POST', fixture.at(`grants/${id}/replacement`), INVALID, tooMany)
    assert.equal((await fixture.replace(id))['x402'], false)
  })

  test('is suspended, revoked by a signature, and told so', async () => {
    const { id } = await fixture.create()
    await fixture.sign(id, 'activate')
    const path = fixture.at(`grants/${id}/suspend`)
    for (let time = 0; time < 2; time += 1) {
      const { grant } = await fixture.person.browser.ask<{ grant: { state: string } }>('POST', path, {})
      assert.equal(grant.state, 'suspended')
    }
    const revoked = await fixture.sign(id, 'revoke')
    assert.deepEqual(
      [revoked.status, revoked.state, revoked['spent_24h_usdc'], revoked['remaining_24h_usdc']],
      ['revoked', 'revoked', null, null],
    )
    const refusal = { type: 'conflict', code: 'grant_revoked' } as const
    await fixture.person.browser.refuse('POST', path, refusal, {})
    await fixture.person.browser.refuse('POST', fixture.at(`grants/${id}/signing-request`), refusal, {
      change: 'revoke',
    })
    const rows = (await readAudit(server.context.db, fixture.workspace.id)).filter((row) =>
      String(row['action']).startsWith('grant.'),
    )
    assert.deepEqual(
      rows.map((row) => row['action']),
      ['grant.opened', 'grant.activated', 'grant.suspended', 'grant.revoked'],
    )
    for (const row of rows) assert.deepEqual([row['actor_kind'], row['actor_id']], ['user', fixture.person.userId])
  })

  test('is replaced with one signature', async () => {
    const old = await fixture.create()
    await fixture.sign(old.id, 'activate')
    const first = await fixture.replace(old.id, { max_per_tx_usdc: '3' })
    const next = await fixture.replace(old.id, { max_per_tx_usdc: '2' })
    assert.deepEqual([next.state, next.replaces, next['max_per_tx_usdc']], ['pending', old.id, '2'])
    assert.deepEqual((await fixture.show(first.id)).state, 'revoked')
    assert.equal((await fixture.show(old.id)).state, 'active')
    const signed = await fixture.sign(next.id, 'activate')
    assert.equal(signed.state, 'active')
    const { state, replaced_by: replacedBy } = await fixture.show(old.id)
    assert.deepEqual([state, replacedBy], ['replaced', next.id])
    const refusal = { type: 'conflict', code: 'grant_not_active' } as const
    await fixture.person.browser.refuse('POST', fixture.at(`grants/${old.id}/replacement`), refusal, TERMS)
    const whole = { mode: 'test', agent_id: fixture.agentId, wallet: fixture.wallet, ...TERMS }
    await fixture.person.browser.refuse('POST', fixture.at('grants'), { type: 'conflict', code: 'grant_exists' }, whole)
  })

  test('is canceled without a signature while it is pending', async () => {
    const { id } = await fixture.create()
    const { grant, signing_request: request } = await fixture.requestSignature(id, 'revoke')
    assert.deepEqual([grant.state, request], ['revoked', null])
  })

  test('may be prepared and handed in by another admin, but the wallet passkey is the owner’s, and no sign-in passkey will do', async () => {
    const { id } = await fixture.create()
    const admin = await fixture.join('admin')
    assert.equal((await fixture.show(id, admin)).is_mine_to_sign, false)
    const { signing_request: request } = await fixture.requestSignature(id, 'activate')
    assert.ok(request !== null)
    const path = fixture.at(`grants/${id}/signature`)
    const refusal = { type: 'validation_failed', code: 'signature_invalid' } as const
    const asked = { challenge: request.payload }
    for (const passkey of [admin.passkey, fixture.person.passkey]) {
      await admin.browser.refuse('POST', path, refusal, { response: answer(passkey, asked) })
    }
    assert.equal((await fixture.show(id)).state, 'pending')
    assert.equal((await fixture.sign(id, 'activate', admin))['activated_by'], 'Grace')
  })

  test('is not changed by a signature over another request, or by one that is too late', async () => {
    const { id } = await fixture.create()
    const path = fixture.at(`grants/${id}/signature`)
    const { browser } = fixture.person
    const { owner } = fixture
    const early = { response: answer(owner, { challenge: 'AAAA' }) }
    await browser.refuse('POST', path, { type: 'conflict', code: 'grant_not_pending' }, early)
    const { signing_request: request } = await fixture.requestSignature(id, 'activate')
    assert.ok(request !== null)
    await browser.refuse('POST', path, { type: 'conflict', code: 'signing_request_stale' }, early)
    const { signature } = early.response.response
    const right = answer(owner, { challenge: request.payload })
    const forged = { response: { ...right, response: { ...right.response, signature } } }
    await browser.refuse('POST', path, { type: 'validation_failed', code: 'signature_invalid' }, forged)
    server.clock.setOffset(SIGNING_REQUEST_MS)
    try {
      const late = { response: answer(owner, { challenge: request.payload }) }
      await browser.refuse('POST', path, { type: 'conflict', code: 'signing_request_expired' }, late)
    } finally {
      server.clock.setOffset(0)
    }
  })

  test('are listed by agent and wallet, those that are not revoked first, then the newest first', async () => {
    const dropped = await fixture.create()
    await fixture.requestSignature(dropped.id, 'revoke')
    const kept = await fixture.create()
    const { workspace, agentId } = fixture
    const wallet = await seedWallet(server.context, { workspace, mode: 'test' })
    const other = await seedGrant(server.context, { workspace, mode: 'test', agentId, wallet })
    const ids = async (query = '') => (await fixture.list(query)).map(({ id }) => id)
    assert.deepEqual(await ids(), [other.id, kept.id, dropped.id])
    assert.deepEqual(await ids(`&agent=${encodeURIComponent(agentId)}`), [other.id, kept.id, dropped.id])
    assert.deepEqual(await ids('&agent=nobody'), [])
    assert.deepEqual(await ids(`&wallet=${wallet.toLowerCase()}`), [other.id])
    assert.deepEqual(await ids(`&wallet=${fixture.wallet}`), [kept.id, dropped.id])
    const live = await fixture.person.browser.ask<{ grants: unknown[] }>('GET', `${fixture.at('grants')}?mode=live`)
    assert.deepEqual(live.grants, [])
  })

  test('at most 200 are listed, however many were revoked', async () => {
    const { db } = server.context
    const kept = await fixture.create()
    await readRows(
      db,
      `insert into grants (workspace_id, id, mode, agent_id, wallet_address, max_per_tx_micro, daily_cap_micro,
          recipient_allowlist, contract_allowlist, status, slot, created_at, revoked_at)
        select workspace_id, 'grt_' || lpad(n::text, 26, 'Z'), mode, agent_id, wallet_address, 1, 1, '{}',
          contract_allowlist, 'revoked', slot, created_at, created_at
        from grants, generate_series(1, 250) n where workspace_id = $1 and id = $2`,
      [fixture.workspace.id, kept.id],
    )
    const listed = await fixture.list()
    assert.equal(listed.length, 200)
    assert.deepEqual([listed[0]?.id, listed[0]?.state], [kept.id, 'pending'])
    assert.deepEqual(
      listed
        .slice(1)
        .map(({ id }) => id)
        .toSorted()
        .toReversed(),
      listed.slice(1).map(({ id }) => id),
    )
  })

  test('is shown as expired from its End date on', async () => {
    const { id } = await fixture.create({ expires_at: new Date(Date.now() + 60 * 60 * 1_000).toISOString() })
    await fixture.sign(id, 'activate')
    server.clock.setOffset(60 * 60 * 1_000)
    try {
      assert.deepEqual([(await fixture.show(id)).state, (await fixture.list())[0]?.state], ['expired', 'expired'])
    } finally {
      server.clock.setOffset(0)
    }
  })

  const faults: readonly (readonly [member: string, value: unknown, code?: ProblemCode])[] = [
    ...['', '0', '-1', '1,5', '1e3', '0.0000001', ' 1', '1000000000000001', '1.'].flatMap((value) =>
      ['max_per_tx_usdc', 'daily_cap_usdc'].map((member) => [member, value, 'amount_invalid'] as const),
    ),
    ['daily_cap_usdc', '100000000000.000001'],
    ...[1, null, undefined, [], {}, 'x'.repeat(101)].flatMap((value) =>
      ['max_per_tx_usdc', 'daily_cap_usdc'].map((member) => [member, value] as const),
    ),
    ['recipient_allowlist.1', ['0x' + 'ab'.repeat(20), '0x12'], 'address_invalid'],
    ['recipient_allowlist.0', ['0x70997970c51812DC3A010C7d01b50e0d17dc79C8'], 'address_invalid'],
    ['recipient_allowlist.0', [7]],
    ...['x', null, undefined, {}, Array.from({ length: 101 }, () => '0x' + 'ab'.repeat(20))].map(
      (value) => ['recipient_allowlist', value] as const,
    ),
    ...['soon', '2999-01-01', '2999-02-30T00:00:00Z', '2020-01-01T00:00:00Z', 7, undefined, []].map(
      (value) => ['expires_at', value] as const,
    ),
  ]
  test('invalid terms are 400 and named in the error, for a grant and for a replacement', async () => {
    const { id } = await fixture.create()
    await fixture.sign(id, 'activate')
    const before = await countGrants()
    const whole = { mode: 'test', agent_id: fixture.agentId, wallet: fixture.wallet, ...TERMS }
    for (const [path, value, code] of faults) {
      const member = path.split('.')[0] ?? ''
      for (const [target, body] of [
        ['grants', whole],
        [`grants/${id}/replacement`, TERMS],
      ] as const) {
        const answered = await fixture.person.browser.call('POST', fixture.at(target), { ...body, [member]: value })
        expectNamed(answered, path, code)
      }
    }
    for (const [member, value, code] of [
      ['wallet', '0x12', 'address_invalid'],
      ['wallet', 7, undefined],
      ['agent_id', '.', undefined],
      ['agent_id', '', undefined],
      ['mode', 'prod', undefined],
    ] as const) {
      const answered = await fixture.person.browser.call('POST', fixture.at('grants'), { ...whole, [member]: value })
      expectNamed(answered, member, code)
    }
    assert.equal(await countGrants(), before)
  })

  test('invalid filters are 400 and named in the error', async () => {
    for (const [query, path, code] of [
      ['', 'mode'],
      ['?mode=prod', 'mode'],
      ['?mode=test&wallet=0x12', 'wallet', 'address_invalid'],
      ['?mode=test&agent=%00', 'agent'],
      ['?mode=test&agent=a&agent=b', 'agent'],
    ] as const) {
      const answered = await fixture.person.browser.call('GET', `${fixture.at('grants')}${query}`)
      expectNamed(answered, path, code)
    }
    const { id } = await fixture.create()
    for (const change of ['suspend', '', 7, null]) {
      const answered = await fixture.person.browser.call('POST', fixture.at(`grants/${id}/signing-request`), { change })
      expectNamed(answered, 'change')
    }
  })

  test('an agent or a wallet that does not exist, or is of the other mode, is not found', async () => {
    const whole = { mode: 'test', agent_id: fixture.agentId, wallet: fixture.wallet, ...TERMS }
    const live = await GrantFixture.open(server, 'live')
    const { browser } = fixture.person
    const noAgent = { type: 'not_found', code: 'agent_not_found' } as const
    const noWallet = { type: 'not_found', code: 'wallet_not_found' } as const
    await browser.refuse('POST', fixture.at('grants'), noAgent, { ...whole, agent_id: 'nobody' })
    await browser.refuse('POST', fixture.at('grants'), noAgent, { ...whole, mode: 'live' })
    await browser.refuse('POST', fixture.at('grants'), noWallet, { ...whole, wallet: live.wallet })
    await live.person.browser.refuse('POST', live.at('grants'), noAgent, { ...whole, wallet: live.wallet })
  })

  test('of another workspace, or with an unknown id, is not found', async () => {
    const { grant } = await seed(server.context)
    for (const odd of [grant.id, 'x', 'grt_', grant.id.toLowerCase(), '%00', '%F0%9F%8D%9C']) {
      for (const [method, path, body] of waysTo(odd)) await fixture.person.browser.refuse(method, path, NOT_FOUND, body)
    }
    assert.deepEqual(await listStatuses(grant.id), ['active'])
  })

  test('a viewer can read and change nothing, a stranger does not find the workspace, and neither is asked for a proof', async () => {
    const { id } = await fixture.create()
    await fixture.sign(id, 'activate')
    const [viewer, stranger, nobody] = [
      (await fixture.join('viewer')).browser,
      (await openVisitor(server)).browser,
      new Browser(server),
    ]
    const whole = { mode: 'test', agent_id: fixture.agentId, wallet: fixture.wallet, ...TERMS }
    const before = await readState()
    for (const [method, path, body] of [
      ...waysTo(id),
      ['GET', `${fixture.at('grants')}?mode=test`],
      ['POST', fixture.at('grants'), whole],
    ] as const) {
      if (method === 'GET') await viewer.ask(method, path)
      else await viewer.refuse(method, path, { type: 'forbidden', code: 'role_insufficient' }, body)
      await stranger.refuse(method, path, NOT_FOUND, body)
      await nobody.refuse(method, path, { type: 'unauthenticated' }, body)
    }
    assert.deepEqual(await readState(), before)
  })

  /** Lists a request for each action on a grant. */
  function waysTo(id: string): readonly (readonly [string, string, object?])[] {
    return [
      ['GET', fixture.at(`grants/${id}`)],
      ['POST', fixture.at(`grants/${id}/replacement`), TERMS],
      ['POST', fixture.at(`grants/${id}/signing-request`), { change: 'revoke' }],
      [
        'POST',
        fixture.at(`grants/${id}/signature`),
        { response: answer(fixture.person.passkey, { challenge: 'AAAA' }) },
      ],
      ['POST', fixture.at(`grants/${id}/suspend`), {}],
    ]
  }

  function expectNamed(answered: Answer, path: string, code?: ProblemCode): void {
    const { details } = expectError(answered, { type: 'validation_failed', ...(code === undefined ? {} : { code }) })
    assert.equal((details as { path: string }[])[0]?.path, path, answered.text)
  }

  async function countGrants(): Promise<number> {
    const rows = await readRows(server.context.db, 'select id from grants where workspace_id = $1', [
      fixture.workspace.id,
    ])
    return rows.length
  }

  function readState() {
    return readRows(server.context.db, 'select * from grants where workspace_id = $1 order by id', [
      fixture.workspace.id,
    ])
  }

  async function listStatuses(id: string): Promise<unknown[]> {
    const rows = await readRows(server.context.db, 'select status from grants where id = $1', [id])
    return rows.map((row) => row['status'])
  }
})
