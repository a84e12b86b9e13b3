import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { createWallet } from '../../server/src/domain/wallets/create-wallet.ts'
import { challengeOf } from '../../server/src/domain/stops/resume-statement.ts'
import { openSandboxEnclave } from '../support/context/enclave-context.ts'
import { addWalletOwner, toBytes } from '../support/context/people.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import type { SoftwarePasskey } from '../../sandbox/src/software-passkey.ts'
import { ADDRESS } from './endpoints.ts'
import { EventSource } from './event-source.ts'
import { GrantFixture, type WireGrant } from './grant-fixture.ts'
import type { Visitor } from './person.ts'

interface WireGroup {
  readonly credential_id: string
  readonly is_mine: boolean
  readonly people: readonly string[]
  readonly wallets: readonly { readonly name: string }[]
  readonly grants: number
}

interface WireStop {
  readonly id: string
  readonly agent_id: string | null
  readonly wallet: string | null
  readonly created_by: string
  readonly grants: number
  readonly groups: readonly WireGroup[]
}

interface WireRequest {
  readonly signing_request: { readonly payload: string; readonly expires_at: string }
}

const ALL = { mode: 'test', agent_id: null, wallet: null } as const

describe('stops in the dashboard', () => {
  let server: ConsoleServer
  let fixture: GrantFixture
  /** An admin, who owns the second wallet. */
  let grace: Visitor
  let gracesKey: SoftwarePasskey
  let grants: readonly WireGrant[]
  before(async () => {
    const { use } = await openSandboxEnclave()
    server = await openConsoleServer(use)
    fixture = await GrantFixture.open(server)
    grace = await fixture.join('admin')
    gracesKey = await addWalletOwner(server.context, grace.userId, 'Key of Grace')
    const { credentialId } = gracesKey
    const { id: workspaceId } = fixture.workspace
    const made = { workspaceId, mode: 'test', name: 'Savings', credentialId, actor: OPERATOR } as const
    const { address } = await createWallet(server.context, made)
    const [first, second] = [await fixture.create(), await fixture.create({ wallet: address })]
    grants = [await fixture.sign(first.id, 'activate'), await activate(second.id)]
  })
  after(() => server.close())

  test('an admin stops everything with one request, and every open page hears of it', async () => {
    const source = await EventSource.open(server, `${fixture.at('changes')}?mode=test`, fixture.person.browser)
    await source.waitFor('ready')
    source.take()
    const preview = await grace.browser.ask('GET', `${fixture.at('stops/preview')}?mode=test`)
    assert.deepEqual(preview, { grants: 2, agents: 1, wallets: 2, pending_payments: 0 })
    const { stop_id: id, grants: count } = await grace.browser.ask<{ stop_id: string; grants: number }>(
      'POST',
      fixture.at('stops'),
      ALL,
    )
    assert.equal(count, 2)
    await source.waitFor('change')
    assert.deepEqual(source.take(), [{ event: 'change', data: { kinds: ['grants'] } }])
    source.close()
    assert.deepEqual(await grace.browser.ask('POST', fixture.at('stops'), ALL), { stop_id: null, grants: 0 })
    const [stop] = await list()
    assert.deepEqual(
      [stop?.id, stop?.agent_id, stop?.wallet, stop?.created_by, stop?.grants],
      [id, null, null, 'Grace', 2],
    )
  })

  test('each person resumes with one signature what their passkey owns, and sees for whom the rest waits', async () => {
    const [stop = assert.fail()] = await list()
    const summary = stop.groups.map((group) => [group.is_mine, group.people, group.wallets[0]?.name, group.grants])
    assert.deepEqual(summary, [
      [true, ['Ada'], 'Treasury', 1],
      [false, ['Grace'], 'Savings', 1],
    ])
    assert.deepEqual(await resume(fixture.person, stop, fixture.owner), { grants: 1 })
    assert.deepEqual(await states(), ['active', 'suspended'])
    const [left = assert.fail()] = await list(grace)
    assert.deepEqual(
      left.groups.map((group) => [group.is_mine, group.people]),
      [[true, ['Grace']]],
    )
    assert.deepEqual(await resume(grace, left, gracesKey), { grants: 1 })
    assert.deepEqual(await states(), ['active', 'active'])
    assert.deepEqual(await list(), [])
  })

  test('one suspended grant is resumed in the same way', async () => {
    const id = grants[0]?.id ?? ''
    const { browser } = fixture.person
    await browser.ask('POST', fixture.at(`grants/${id}/suspend`), {})
    const path = fixture.at(`grants/${id}/resume`)
    const { signing_request: request } = await browser.ask<WireRequest>('POST', `${path}-request`, {})
    const body = signed(fixture.owner, request)
    await browser.refuse(
      'POST',
      path,
      { type: 'validation_failed', code: 'signature_invalid' },
      signed(gracesKey, request),
    )
    assert.equal((await browser.ask<{ grant: WireGrant }>('POST', path, body)).grant.state, 'active')
    await browser.refuse('POST', path, { type: 'conflict', code: 'grant_not_suspended' }, body)
  })

  test('an unknown agent or wallet is not found, and an agent and a wallet at once are rejected', async () => {
    const { browser } = fixture.person
    const nobody = { ...ALL, agent_id: 'nobody' }
    await browser.refuse('POST', fixture.at('stops'), { type: 'not_found', code: 'agent_not_found' }, nobody)
    const nowhere = { ...ALL, wallet: ADDRESS }
    await browser.refuse('POST', fixture.at('stops'), { type: 'not_found', code: 'wallet_not_found' }, nowhere)

    const body = { ...ALL, agent_id: fixture.agentId, wallet: fixture.wallet }
    await fixture.person.browser.refuse('POST', fixture.at('stops'), { type: 'validation_failed' }, body)
  })

  async function list({ browser } = fixture.person): Promise<readonly WireStop[]> {
    return (await browser.ask<{ stops: WireStop[] }>('GET', `${fixture.at('stops')}?mode=test`)).stops
  }

  async function resume({ browser }: Visitor, { id }: WireStop, passkey: SoftwarePasskey): Promise<unknown> {
    const path = fixture.at(`stops/${id}/resume`)
    const asked = { credential_id: passkey.credentialId }
    const { signing_request: request } = await browser.ask<WireRequest>('POST', `${path}-request`, asked)
    return await browser.ask('POST', path, signed(passkey, request))
  }

  function signed(passkey: SoftwarePasskey, { payload, expires_at }: WireRequest['signing_request']): object {
    return { expires_at, response: passkey.assert(challengeOf(toBytes(payload))) }
  }

  /** Activates a grant on the wallet of Grace. */
  async function activate(id: string): Promise<WireGrant> {
    const { signing_request: request } = await fixture.requestSignature(id, 'activate')
    const response = gracesKey.assert(toBytes(request?.payload ?? ''))
    const path = fixture.at(`grants/${id}/signature`)
    return (await grace.browser.ask<{ grant: WireGrant }>('POST', path, { response })).grant
  }

  async function states(): Promise<readonly string[]> {
    return await Promise.all(grants.map(async ({ id }) => (await fixture.show(id)).state))
  }
})
