import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Workspace } from '../../server/src/domain/workspaces/workspace.ts'
import { createAgent as makeAgent } from '../../server/src/domain/agents/create-agent.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import { createInvitation } from '../../server/src/domain/members/create-invitation.ts'
import { getMembership } from '../../server/src/domain/members/queries.ts'
import type { Role } from '../../server/src/values/role.ts'
import { createEndpoint } from '../../server/src/domain/webhooks/create-endpoint.ts'
import type { AgentId } from '../../server/src/values/agent-id.ts'
import type { ProblemType } from '../../server/src/values/problem.ts'
import { seedWorkspace, seedMember, seedRequest, seedTokens } from '../support/context/connection-rows.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError, readBody } from '../support/http-client.ts'
import { readRows } from '../support/database/read-rows.ts'
import { agent, seedGrant, seedWallet } from '../support/context/seed.ts'
import { seedDelivery, seedEndpoint } from '../support/context/webhook-rows.ts'
import { Browser } from './browser.ts'
import { openVisitor, type Visitor } from './person.ts'

const CALLERS = ['owner', 'admin', 'viewer', 'stranger', 'nobody'] as const
type Caller = (typeof CALLERS)[number]

/**
 * A request, and its status for an owner, an admin and a viewer. Somebody who is not a member gets 404, and a caller
 * without a session gets 401.
 */
type Row = readonly [name: string, statuses: readonly [number, number, number], call: () => Promise<Call>]
interface Call {
  readonly method?: string
  readonly path: string
  readonly body?: unknown
}

const TABLES = [
  ...['members', 'invitations', 'agents', 'connections', 'workspaces', 'recovery_codes', 'passkeys'],
  ...['webhook_endpoints', 'deliveries', 'events'],
  ...['grants', 'stops'],
]
const SPENDING = 'mode=test&period=today&zone=UTC&by=agent'
const HOOK = { mode: 'test', url: 'https://hooks.example/x', events: ['payment.confirmed'] } as const
const REFUSALS: Readonly<Record<number, ProblemType>> = { 401: 'unauthenticated', 403: 'forbidden', 404: 'not_found' }

/** What owners, admins and viewers may change about each other (D46). */
describe('who may do what in a workspace', () => {
  let server: ConsoleServer
  let workspace: Workspace
  let callers: Readonly<Record<Caller, Browser>>
  before(async () => {
    server = await openConsoleServer()
    workspace = await seedWorkspace(server.context)
    const visitors: Visitor[] = []
    for (const role of ['owner', 'admin', 'viewer'] as const) {
      const visitor = await openVisitor(server, role)
      await addMember(server.context, { workspace, userId: visitor.userId, role, actor: OPERATOR })
      visitors.push(visitor)
    }
    const [owner, admin, viewer, stranger] = [...visitors, await openVisitor(server, 'stranger')].map(
      ({ browser }) => browser,
    )
    assert.ok(owner !== undefined && admin !== undefined && viewer !== undefined && stranger !== undefined)
    callers = { owner, admin, viewer, stranger, nobody: new Browser(server) }
  })
  after(() => server.close())

  const rows: readonly Row[] = [
    ['list members', [200, 200, 200], async () => ({ path: at('members') })],
    ['make a viewer an admin', [200, 200, 403], () => changeRole('viewer', 'admin')],
    ['make an admin a viewer', [200, 200, 403], () => changeRole('admin', 'viewer')],
    ['make an admin an owner', [200, 403, 403], () => changeRole('admin', 'owner')],
    ['make an owner an admin', [200, 403, 403], () => changeRole('owner', 'admin')],
    ['remove a viewer', [200, 200, 403], () => remove('viewer')],
    ['remove an admin', [200, 200, 403], () => remove('admin')],
    ['remove an owner', [200, 403, 403], () => remove('owner')],
    ['list invitations', [200, 200, 403], async () => ({ path: at('invitations') })],
    ['invite a viewer', [201, 201, 403], async () => ({ path: at('invitations'), body: { role: 'viewer' } })],
    ['invite an admin', [201, 201, 403], async () => ({ path: at('invitations'), body: { role: 'admin' } })],
    ['invite an owner', [201, 403, 403], async () => ({ path: at('invitations'), body: { role: 'owner' } })],
    ['revoke an invitation', [200, 200, 403], takeInvitationBack],
    ['read the audit log', [200, 200, 200], async () => ({ path: at('audit') })],
    ['list agents', [200, 200, 200], async () => ({ path: `${at('agents')}?mode=test` })],
    ['create an agent', [201, 201, 403], createAgent],
    ['look at an agent', [200, 200, 200], async () => ({ path: `${at(`agents/${await newAgent()}`)}?mode=test` })],
    ['delete an agent', [200, 200, 403], deleteAgent],
    ['list grants', [200, 200, 200], async () => ({ path: `${at('grants')}?mode=test` })],
    ['look at a grant', [200, 200, 200], async () => ({ path: at(`grants/${await newGrant()}`) })],
    ['suspend a grant', [200, 200, 403], async () => ({ path: at(`grants/${await newGrant()}/suspend`), body: {} })],
    ['list stops', [200, 200, 200], async () => ({ path: `${at('stops')}?mode=test` })],
    ['preview a stop', [200, 200, 200], async () => ({ path: `${at('stops/preview')}?mode=test` })],
    ['stop all agents', [200, 200, 403], stopAll],
    ['list connections', [200, 200, 200], async () => ({ path: at('connections') })],
    ['disconnect an application', [200, 200, 403], disconnect],
    ['read the overview', [200, 200, 200], async () => ({ path: `${at('overview')}?mode=test` })],
    ['read the spending', [200, 200, 200], async () => ({ path: `${at('overview/spending')}?${SPENDING}` })],
    ['read the funds', [200, 200, 200], async () => ({ path: `${at('overview/funds')}?mode=test` })],
    ['read what waits', [200, 200, 200], async () => ({ path: `${at('overview/waiting')}?mode=test` })],
    ['list payments', [200, 200, 200], async () => ({ path: `${at('payments')}?mode=test` })],
    ['list rejected requests', [200, 200, 200], async () => ({ path: `${at('refusals')}?mode=test` })],
    ['list webhooks', [200, 200, 200], async () => ({ path: `${at('webhooks')}?mode=test` })],
    ['look at a webhook', [200, 200, 200], async () => ({ path: at(`webhooks/${await endpointId()}`) })],
    ['create a webhook', [201, 201, 403], async () => ({ path: at('webhooks'), body: HOOK })],
    ['change a webhook', [200, 200, 403], changeWebhook],
    ['delete a webhook', [200, 200, 403], deleteWebhook],
    ['rotate a webhook’s secret', [200, 200, 403], () => postToWebhook('rotate-secret')],
    ['send a test event', [201, 201, 403], () => postToWebhook('test')],
    ['replay a range of time', [201, 201, 403], replayRange],
    ['list deliveries', [200, 200, 200], async () => ({ path: `${at('deliveries')}?mode=test` })],
    ['look at a delivery', [200, 200, 200], async () => ({ path: at(`deliveries/${await newDelivery()}`) })],
    ['replay a delivery', [201, 201, 403], replayOne],
  ]
  for (const [name, statuses, makeCall] of rows) {
    test(`to ${name}: ${statuses.join(', ')} for an owner, an admin, a viewer; otherwise 404 or 401`, async () => {
      for (const [index, caller] of CALLERS.entries()) {
        const status = [...statuses, 404, 401][index] ?? 0
        const { method, path, body } = await makeCall()
        const before = await readState()
        const answer = await callers[caller].call(method ?? (body === undefined ? 'GET' : 'POST'), path, body)
        const refusal = REFUSALS[status]
        if (refusal === undefined) readBody(answer, status)
        else expectError(answer, { type: refusal, ...(status === 403 ? { code: 'role_insufficient' } : {}) })
        const changes = refusal === undefined && (method !== undefined || body !== undefined)
        assert.equal((await readState()) !== before, changes, `what ${caller} changed`)
      }
    })
  }

  const own: readonly (readonly [string, () => Promise<Call>])[] = [
    ['passkeys', async () => ({ path: '/console/passkeys' })],
    ['a passkey’s options', async () => ({ path: '/console/passkeys/options', body: {} })],
    ['a new passkey', async () => ({ path: '/console/passkeys', body: { name: 'x', response: registration() } })],
    ['a passkey’s removal', async () => ({ method: 'DELETE', path: '/console/passkeys/x' })],
    ['recovery codes', async () => ({ path: '/console/recovery-codes', body: {} })],
    ['a verification’s options', async () => ({ path: '/console/verification/options', body: {} })],
    ['a verification', async () => ({ path: '/console/verification', body: { response: assertion() } })],
    ['a new workspace', async () => ({ path: '/console/workspaces', body: { name: 'x' } })],
    [
      'an invitation’s acceptance',
      async () => ({ path: '/console/invitations/accept', body: { token: await invite() } }),
    ],
    [
      'the details of an authorization request',
      async () => ({ path: `/console/authorization-requests/${await openRequest()}` }),
    ],
  ]
  for (const [name, makeCall] of own) {
    test(`${name}: 401 for a caller who is not signed in`, async () => {
      const { method, path, body } = await makeCall()
      const before = await readState()
      const nobody = new Browser(server)
      const answer = await nobody.call(method ?? (body === undefined ? 'GET' : 'POST'), path, body)
      assert.equal(expectError(answer, { type: 'unauthenticated' }).code, undefined)
      assert.equal(await readState(), before)
    })
  }

  test('every member may leave, except the last owner', async () => {
    const workspace = await seedWorkspace(server.context)
    const people: Visitor[] = []
    for (const role of ['viewer', 'admin', 'owner', 'owner'] as const) {
      const visitor = await openVisitor(server)
      await addMember(server.context, { workspace: workspace, userId: visitor.userId, role, actor: OPERATOR })
      people.push(visitor)
    }
    for (const [index, { browser, userId }] of people.entries()) {
      const path = `/console/workspaces/${workspace.slug}/members/${userId}`
      if (index < 3) assert.deepEqual(await browser.ask('DELETE', path), { keys_revoked: [], keys_kept: [] })
      else await browser.refuse('DELETE', path, { type: 'conflict', code: 'last_owner' })
      if (index < 3) await browser.refuse('GET', `/console/workspaces/${workspace.slug}/members`, { type: 'not_found' })
      else await browser.refuse('PATCH', path, { type: 'conflict', code: 'last_owner' }, { role: 'viewer' })
    }
  })

  test('a role that was removed has no effect from the next request on', async () => {
    const visitor = await openVisitor(server)
    const { userId } = visitor
    await addMember(server.context, { workspace, userId, role: 'admin', actor: OPERATOR })
    await visitor.browser.ask('GET', at('invitations'))
    await callers.owner.ask('PATCH', at(`members/${userId}`), { role: 'viewer' })
    await visitor.browser.refuse('GET', at('invitations'), { type: 'forbidden', code: 'role_insufficient' })
    await callers.owner.ask('DELETE', at(`members/${userId}`))
    await visitor.browser.refuse('GET', at('members'), { type: 'not_found' })
  })

  test('items of another workspace are not found in one’s own', async () => {
    const other = await seedTokens(server.context)
    const [row] = await readRows(server.context.db, 'select id from connections where workspace_id = $1', [
      other.membership.workspace.id,
    ])
    await callers.owner.refuse('DELETE', at(`connections/${String(row?.['id'])}`), {
      type: 'not_found',
      code: 'connection_not_found',
    })
    const { workspace: theirs, userId } = other.membership
    const { invitation } = await createInvitation(server.context, {
      workspace: theirs,
      role: 'viewer',
      actor: OPERATOR,
    })
    await callers.owner.refuse('DELETE', at(`invitations/${invitation.id}`), {
      type: 'not_found',
      code: 'invitation_not_found',
    })
    for (const [method, body] of [
      ['DELETE', undefined],
      ['PATCH', { role: 'viewer' }],
    ] as const) {
      const missing = { type: 'not_found', code: 'member_not_found' } as const
      await callers.owner.refuse(method, at(`members/${userId}`), missing, body)
    }
  })

  function at(path: string): string {
    return `/console/workspaces/${workspace.slug}/${path}`
  }

  async function changeRole(from: Role, role: Role): Promise<Call> {
    return { method: 'PATCH', path: await newMember(from), body: { role } }
  }

  async function remove(role: Role): Promise<Call> {
    return { method: 'DELETE', path: await newMember(role) }
  }

  async function newMember(role: Role): Promise<string> {
    return at(`members/${(await seedMember(server.context, workspace, role)).userId}`)
  }

  async function takeInvitationBack(): Promise<Call> {
    const { invitation } = await createInvitation(server.context, { workspace, role: 'viewer', actor: OPERATOR })
    return { method: 'DELETE', path: at(`invitations/${invitation.id}`) }
  }

  async function createAgent(): Promise<Call> {
    return { path: at('agents'), body: { mode: 'test', id: `agent-${randomBytes(4).toString('hex')}` } }
  }

  async function deleteAgent(): Promise<Call> {
    return { method: 'DELETE', path: `${at(`agents/${await newAgent()}`)}?mode=test` }
  }

  async function newAgent(): Promise<AgentId> {
    const id = agent(`agent-${randomBytes(4).toString('hex')}`)
    await makeAgent(server.context, { workspaceId: workspace.id, mode: 'test', id, actor: OPERATOR })
    return id
  }

  async function newGrant(): Promise<string> {
    const wallet = await seedWallet(server.context, { workspace, mode: 'test' })
    return (await seedGrant(server.context, { workspace, mode: 'test', agentId: await newAgent(), wallet })).id
  }

  async function stopAll(): Promise<Call> {
    await newGrant()
    return { path: at('stops'), body: { mode: 'test', agent_id: null, wallet: null } }
  }

  async function disconnect(): Promise<Call> {
    const [owner] = await readRows(
      server.context.db,
      `select user_id from members where workspace_id = $1 and role = 'owner' order by created_at limit 1`,
      [workspace.id],
    )
    const { slug } = workspace
    const membership = await getMembership(server.context, {
      userId: String(owner?.['user_id']),
      slug,
      right: 'manageOwners',
    })
    await seedTokens(server.context, { membership })
    const sql = 'select id from connections where workspace_id = $1 and revoked_at is null order by id desc limit 1'
    const [row] = await readRows(server.context.db, sql, [workspace.id])
    return { method: 'DELETE', path: at(`connections/${String(row?.['id'])}`) }
  }

  async function endpointId(): Promise<string> {
    return (await seedEndpoint(server.context, { workspace })).id
  }

  async function changeWebhook(): Promise<Call> {
    const { id } = await seedEndpoint(server.context, { workspace })
    const url = `https://hooks.example/${randomBytes(4).toString('hex')}`
    return { method: 'PATCH', path: at(`webhooks/${id}`), body: { url } }
  }

  async function deleteWebhook(): Promise<Call> {
    const { endpoint } = await createEndpoint(server.context, { workspaceId: workspace.id, ...HOOK, actor: OPERATOR })
    return { method: 'DELETE', path: at(`webhooks/${endpoint.id}`) }
  }

  async function postToWebhook(verb: string): Promise<Call> {
    const { id } = await seedEndpoint(server.context, { workspace })
    return { path: at(`webhooks/${id}/${verb}`), body: {} }
  }

  async function replayRange(): Promise<Call> {
    const { id } = await seedEndpoint(server.context, { workspace })
    const deliveryId = await newDelivery()
    await readRows(
      server.context.db,
      // Also ends the replay that the previous caller has queued: while one is queued, no other replay is accepted.
      `update deliveries set status = 'failed', next_attempt_at = null, finished_at = created_at
        where id = $1 or status = 'pending' and trigger = 'replay'`,
      [deliveryId],
    )
    const range = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', only: 'failed' }
    return { path: at(`webhooks/${id}/replay`), body: range }
  }

  async function replayOne(): Promise<Call> {
    return { path: at(`deliveries/${await newDelivery()}/replay`), body: {} }
  }

  async function newDelivery(): Promise<string> {
    const endpoint = await seedEndpoint(server.context, { workspace })
    return (await seedDelivery(server.context, endpoint)).id
  }

  async function invite(): Promise<string> {
    return (await createInvitation(server.context, { workspace, role: 'viewer', actor: OPERATOR })).secret
  }

  async function openRequest(): Promise<string> {
    return (await seedRequest(server.context)).handle
  }

  /** Reads everything that the endpoints could change. */
  async function readState(): Promise<string> {
    const parts = TABLES.map(async (table) => {
      const sql = `select md5(coalesce(string_agg(t::text, ' ' order by t::text), '')) as sum from ${table} t`
      return String((await readRows(server.context.db, sql))[0]?.['sum'])
    })
    return (await Promise.all(parts)).join(' ')
  }
})

function registration(): object {
  return { ...credential(), response: { clientDataJSON: 'AA', attestationObject: 'AA' } }
}

function assertion(): object {
  return { ...credential(), response: { clientDataJSON: 'AA', authenticatorData: 'AA', signature: 'AA' } }
}

function credential(): object {
  return { id: 'AA', rawId: 'AA', type: 'public-key' }
}
