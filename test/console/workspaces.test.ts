import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import { decideAuthorizationRequest } from '../../server/src/domain/connections/decide-authorization-request.ts'
import { getMembership } from '../../server/src/domain/members/queries.ts'
import { recordDocumentClient } from '../../server/src/domain/connections/record-document-client.ts'
import { registerClient } from '../../server/src/domain/connections/register-client.ts'
import { isAlive, seedRequest, seedTokens, sessionOf } from '../support/context/connection-rows.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { readRows } from '../support/database/read-rows.ts'
import { Browser } from './browser.ts'
import { openVisitor, readSession, type Visitor, type WireWorkspace } from './person.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

interface WireInvitation {
  readonly id: string
  readonly role: string
  readonly uses_left: number
  readonly created_at: string
  readonly expires_at: string
  readonly url: string
}

interface WireMember {
  readonly user_id: string
  readonly name: string
  readonly role: string
  readonly created_at: string
}

interface WireAuditPage {
  readonly entries: readonly {
    readonly id: string
    readonly at: string
    readonly actor: object
    readonly action: string
    readonly subject: string | null
    readonly known_subject: { readonly name: string; readonly former: boolean } | null
    readonly details: object
  }[]
  readonly next: string | null
}

describe('workspaces in the dashboard', () => {
  let server: ConsoleServer
  let owner: Visitor
  let workspace: WireWorkspace
  before(async () => {
    server = await openConsoleServer()
  })
  beforeEach(async () => {
    owner = await openVisitor(server, 'Olga')
    workspace = (
      await owner.browser.ask<{ workspace: WireWorkspace }>('POST', '/console/workspaces', { name: ' Acme Corp ' }, 201)
    ).workspace
  })
  afterEach(() => server.clock.setOffset(0))
  after(() => server.close())

  test('the person who creates a workspace owns it', async () => {
    assert.match(workspace.slug, /^acme-corp/)
    assert.deepEqual([workspace.name, workspace.role], ['Acme Corp', 'owner'])
    assert.deepEqual((await readSession(owner.browser))?.workspaces, [{ ...workspace, has_held_keys: false }])
    const { members } = await owner.browser.ask<{ members: WireMember[] }>('GET', at('members'))
    assert.match(String(members[0]?.created_at), ISO_TIME)
    assert.deepEqual(
      members.map(({ user_id, name, role }) => [user_id, name, role]),
      [[owner.userId, 'Olga', 'owner']],
    )
  })

  test('an invitation leads to the workspace once, and its link is shown once', async () => {
    const invitation = await invite('admin')
    const { url, ...rest } = invitation
    assert.ok(url.startsWith(`${server.config.authUrl}/invite/svc_inv_`), url)
    assert.deepEqual([rest.role, rest.uses_left], ['admin', 1])
    assert.equal(Date.parse(rest.expires_at) - Date.parse(rest.created_at), 7 * DAY_MS)
    const listed = await owner.browser.ask<{ invitations: unknown[] }>('GET', at('invitations'))
    assert.deepEqual(listed.invitations, [rest])

    const token = url.slice(url.lastIndexOf('/') + 1)
    const expected = {
      workspace: { slug: workspace.slug, name: 'Acme Corp' },
      role: 'admin',
      invited_by: 'Olga',
      expires_at: rest.expires_at,
    }
    const guest = await openVisitor(server, 'Gus')
    for (const browser of [new Browser(server), guest.browser, owner.browser]) {
      assert.deepEqual(await browser.ask('POST', '/console/invitations/look-up', { token }), { invitation: expected })
    }
    const joined = { workspace: { slug: workspace.slug, name: 'Acme Corp', role: 'admin' } }
    assert.deepEqual(await guest.browser.ask('POST', '/console/invitations/accept', { token }), joined)
    assert.deepEqual((await readSession(guest.browser))?.workspaces, [{ ...joined.workspace, has_held_keys: false }])

    const missing = { type: 'not_found', code: 'invitation_not_found' } as const
    const late = await openVisitor(server)
    await late.browser.refuse('POST', '/console/invitations/accept', missing, { token })
    await late.browser.refuse('POST', '/console/invitations/look-up', missing, { token })
    const { invitations } = await owner.browser.ask<{ invitations: unknown[] }>('GET', at('invitations'))
    assert.deepEqual(invitations, [])
  })

  test('a revoked, an expired and an unknown invitation are rejected', async () => {
    const missing = { type: 'not_found', code: 'invitation_not_found' } as const
    const [taken, old] = [await invite('viewer'), await invite('viewer')]
    assert.deepEqual(await owner.browser.ask('DELETE', at(`invitations/${taken.id}`)), {})
    await owner.browser.refuse('DELETE', at(`invitations/${taken.id}`), missing)
    const tokens = [tokenOf(taken), 'x', 'svc_inv_', '\u0000', `${tokenOf(old)}x`, tokenOf(old).toLowerCase()]
    const guest = await openVisitor(server)
    for (const token of tokens) {
      for (const way of ['look-up', 'accept']) {
        await guest.browser.refuse('POST', `/console/invitations/${way}`, missing, { token })
      }
    }
    server.clock.setOffset(7 * DAY_MS)
    const late = await openVisitor(server)
    await late.browser.refuse('POST', '/console/invitations/accept', missing, { token: tokenOf(old) })
    for (const id of ['inv_1', '%00', 'x'.repeat(300)]) {
      await late.browser.refuse('DELETE', `/console/workspaces/x/invitations/${id}`, { type: 'not_found' })
    }
  })

  test('inviting an owner or admin requires a proof of the last ten minutes, inviting a viewer does not', async () => {
    server.clock.setOffset(10 * 60_000)
    try {
      for (const role of ['owner', 'admin']) {
        await owner.browser.refuse(
          'POST',
          at('invitations'),
          { type: 'forbidden', code: 'verification_required' },
          { role },
        )
      }
      await invite('viewer')
    } finally {
      server.clock.setOffset(0)
    }
  })

  test('the audit log names the person who created an agent (D48)', async () => {
    const answer = await owner.browser.call('POST', at('agents'), { mode: 'test', id: 'made by Olga' })
    assert.equal(answer.status, 201)
    const { entries } = await owner.browser.ask<WireAuditPage>('GET', at('audit'))
    const made = entries.find(({ action }) => action === 'agent.created')
    assert.deepEqual(
      [made?.actor, made?.subject, made?.known_subject],
      [{ kind: 'user', id: owner.userId, known: { name: 'Olga', former: false } }, 'made by Olga', null],
    )
  })

  test('the audit log shows who did what, the newest first, page by page', async () => {
    const member = await openVisitor(server, 'Mia')
    await member.browser.ask('POST', '/console/invitations/accept', { token: tokenOf(await invite('viewer')) })
    await owner.browser.ask('PATCH', at(`members/${member.userId}`), { role: 'admin' })
    const first = await owner.browser.ask<WireAuditPage>('GET', at('audit'))
    assert.equal(first.next, null)
    for (const entry of first.entries) {
      const members = ['id', 'at', 'mode', 'actor', 'action', 'subject', 'known_subject', 'details', 'known_details']
      assert.deepEqual(Object.keys(entry), members)
      assert.match(entry.id, /^aud_/)
      assert.match(entry.at, ISO_TIME)
    }
    const [newest, ...older] = first.entries
    assert.deepEqual(
      [newest?.action, newest?.actor, newest?.subject, newest?.known_subject],
      [
        'member.role_changed',
        { kind: 'user', id: owner.userId, known: { name: 'Olga', former: false } },
        member.userId,
        { name: 'Mia', former: false },
      ],
    )
    const actions = older.map(({ action }) => action)
    for (const action of ['member.joined', 'invitation.created', 'workspace.created']) {
      assert.ok(actions.includes(action), action)
    }
    assert.deepEqual(older.find(({ action }) => action === 'member.joined')?.actor, {
      kind: 'user',
      id: member.userId,
      known: { name: 'Mia', former: false },
    })

    for (let index = 0; index < 30; index += 1) {
      const { id } = await invite('viewer')
      await owner.browser.ask('DELETE', at(`invitations/${id}`))
    }
    const seen: string[] = []
    let before: string | null = null
    do {
      const query: string = before === null ? '' : `?before=${before}`
      const page: WireAuditPage = await owner.browser.ask<WireAuditPage>('GET', at(`audit${query}`))
      assert.ok(page.entries.length <= 50)
      seen.push(...page.entries.map(({ id }) => id))
      before = page.next
    } while (before !== null)
    assert.ok(seen.length >= 60 + first.entries.length)
    assert.equal(new Set(seen).size, seen.length)
    assert.deepEqual(seen, seen.toSorted().toReversed())
  })

  test('the audit log also names people who have left, and marks them; the operator has no name', async () => {
    const member = await openVisitor(server, 'Lea')
    const joined = (
      await getMembership(server.context, { userId: owner.userId, slug: workspace.slug, right: 'manageOwners' })
    ).workspace
    await addMember(server.context, { workspace: joined, userId: member.userId, role: 'viewer', actor: OPERATOR })
    await member.browser.ask('DELETE', at(`members/${member.userId}`))
    const { entries } = await owner.browser.ask<WireAuditPage>('GET', at('audit'))
    const told = entries.slice(0, 2).map(({ action, actor, known_subject }) => [action, actor, known_subject])
    const lea = { name: 'Lea', former: true }
    assert.deepEqual(told, [
      ['member.removed', { kind: 'user', id: member.userId, known: lea }, lea],
      ['member.joined', { kind: 'operator', id: null, known: null }, lea],
    ])
  })

  test("if an agent's id looks like the id of a stranger, the audit log does not show the stranger's name", async () => {
    const stranger = await openVisitor(server, 'Stranger')
    await owner.browser.ask('POST', at('agents'), { mode: 'test', id: stranger.userId }, 201)
    const answer = await owner.browser.call('GET', at('audit'))
    assert.ok(JSON.stringify(answer).includes(stranger.userId))
    assert.ok(!JSON.stringify(answer).includes('Stranger'))
  })

  test('a connection is listed, and can be ended at once', async () => {
    const { userId } = owner
    const membership = await getMembership(server.context, { userId, slug: workspace.slug, right: 'manageOwners' })
    const client = await registerClient(server.context, {
      name: '<b>Claude</b>',
      redirectUris: ['http://127.0.0.1/callback', 'https://claude.example:8443/callback'],
      scopes: ['wallet:read', 'x402:pay'],
    })
    const redirectUri = 'http://127.0.0.1/callback'
    const { tokens, agentId } = await seedTokens(server.context, {
      membership,
      client,
      redirectUri,
      scopes: ['wallet:read'],
    })
    const { connections } = await owner.browser.ask<{ connections: Record<string, unknown>[] }>(
      'GET',
      at('connections'),
    )
    assert.equal(connections.length, 1)
    const { id, created_at: createdAt, expires_at: expiresAt, ...rest } = connections[0] ?? {}
    assert.deepEqual(rest, {
      client: { name: '<b>Claude</b>', document_host: null, redirect_hosts: ['127.0.0.1', 'claude.example:8443'] },
      mode: 'test',
      agent_id: agentId,
      scopes: ['wallet:read'],
      user_name: 'Olga',
      last_used_at: null,
    })
    for (const time of [createdAt, expiresAt]) assert.match(String(time), ISO_TIME)
    const missing = { type: 'not_found', code: 'connection_not_found' } as const
    for (const unknown of ['con_1', '%00', String(id).toLowerCase()]) {
      await owner.browser.refuse('DELETE', at(`connections/${unknown}`), missing)
    }
    assert.equal(await isAlive(server.context, tokens.accessToken), true)
    assert.deepEqual(await owner.browser.ask('DELETE', at(`connections/${String(id)}`)), {})
    assert.equal(await isAlive(server.context, tokens.accessToken), false)
    assert.deepEqual(await owner.browser.ask('GET', at('connections')), { connections: [] })
  })

  for (const [redirectUri, host, kind] of [
    ['https://client.example/callback', 'client.example', 'https'],
    ['https://client.example:8443/callback?a=b', 'client.example:8443', 'https'],
    ['http://localhost:33418/callback', 'localhost:33418', 'loopback'],
    ['http://[::1]:9/cb', '[::1]:9', 'loopback'],
    ['https://localhost/cb', 'localhost', 'https'],
  ] as const) {
    test(`the page for a request that redirects to ${redirectUri} names ${host}`, async () => {
      const { userId } = owner
      const membership = await getMembership(server.context, { userId, slug: workspace.slug, right: 'manageOwners' })
      const client = await registerClient(server.context, {
        name: 'A client',
        redirectUris: [redirectUri],
        scopes: ['wallet:read', 'wallet:transfer'],
      })
      const asked = await seedRequest(server.context, { membership, client, redirectUri, scopes: ['wallet:read'] })
      const path = `/console/authorization-requests/${asked.handle}`
      const { request } = await owner.browser.ask<{ request: Record<string, unknown> }>('GET', path)
      const { expires_at: expiresAt, client: told, ...rest } = request
      assert.match(String(expiresAt), ISO_TIME)
      assert.deepEqual(rest, { scopes: ['wallet:read'], agent_id: null })
      assert.deepEqual(told, {
        name: 'A client',
        document_host: null,
        redirect_host: host,
        redirect_uri_kind: kind,
        registered_at: client.createdAt.toISOString(),
      })
      const sql = 'select decided_at from authorization_requests where client_id = $1'
      const state = await readRows(server.context.db, sql, [client.id])
      assert.deepEqual(state, [{ decided_at: null }], 'to look at it decides nothing')
    })
  }

  test('a client with a metadata document is identified by the host of its URL', async () => {
    const { userId } = owner
    const membership = await getMembership(server.context, { userId, slug: workspace.slug, right: 'manageOwners' })
    const redirectUri = 'http://127.0.0.1:5000/callback'
    const client = await recordDocumentClient(server.context, {
      url: 'https://claude.example:8443/oauth/client.json',
      name: 'Not verified',
      redirectUris: ['http://127.0.0.1/callback'],
      scopes: ['wallet:read'],
      freshForMs: 60_000,
      source: 'fetched',
    })
    const options = { membership, client, redirectUri, scopes: ['wallet:read'] } as const
    const { handle } = await seedRequest(server.context, options)
    const { request } = await owner.browser.ask<{ request: { client: Record<string, unknown> } }>(
      'GET',
      `/console/authorization-requests/${handle}`,
    )
    assert.deepEqual(request.client, {
      name: 'Not verified',
      document_host: 'claude.example:8443',
      redirect_host: '127.0.0.1:5000',
      redirect_uri_kind: 'loopback',
      registered_at: client.createdAt.toISOString(),
    })
    await seedTokens(server.context, options)
    const { connections } = await owner.browser.ask<{ connections: { client: { document_host: string | null } }[] }>(
      'GET',
      at('connections'),
    )
    assert.ok(connections.some(({ client }) => client.document_host === 'claude.example:8443'))
  })

  test('an unknown, a decided and an expired request are not shown', async () => {
    const { userId } = owner
    const membership = await getMembership(server.context, { userId, slug: workspace.slug, right: 'manageOwners' })
    const missing = { type: 'not_found', code: 'authorization_request_not_found' } as const
    for (const handle of ['x', 'svc_oar_x', '%00', 'svc_oar_'.padEnd(57, 'a')]) {
      await owner.browser.refuse('GET', `/console/authorization-requests/${handle}`, missing)
    }
    const [decided, old] = [await seedRequest(server.context, { membership }), await seedRequest(server.context)]
    const decision = { approve: false } as const
    await decideAuthorizationRequest(server.context, {
      handle: decided.handle,
      session: sessionOf(server.context, { userId }),
      decision,
    })
    await owner.browser.refuse('GET', `/console/authorization-requests/${decided.handle}`, {
      type: 'conflict',
      code: 'authorization_request_decided',
    })
    server.clock.setOffset(11 * 60 * 1_000)
    await owner.browser.refuse('GET', `/console/authorization-requests/${old.handle}`, missing)
  })

  function at(path: string): string {
    return `/console/workspaces/${workspace.slug}/${path}`
  }

  async function invite(role: string): Promise<WireInvitation> {
    return (await owner.browser.ask<{ invitation: WireInvitation }>('POST', at('invitations'), { role }, 201))
      .invitation
  }
})

function tokenOf({ url }: Pick<WireInvitation, 'url'>): string {
  return url.slice(url.lastIndexOf('/') + 1)
}
