import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { READS } from '../../server/src/console/contract/route.ts'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { issueKey } from '../../server/src/domain/keys/issue-key.ts'
import { RECENT_PROOF_MS } from '../../server/src/domain/require-recent-proof.ts'
import type { Mode } from '../../server/src/values/mode.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { readError } from '../support/http-client.ts'
import { readRows } from '../support/database/read-rows.ts'
import { seedEndpoint } from '../support/context/webhook-rows.ts'
import { Browser } from './browser.ts'
import { openConsoleFixture, type ConsoleFixture } from './console-fixture.ts'
import { ADDRESS, ENDPOINTS, nameOf } from './endpoints.ts'
import { openVisitor, verify, type Visitor } from './person.ts'

const UNPROVED = { type: 'forbidden', code: 'verification_required' } as const
const W = '/console/workspaces/:slug'

/**
 * The bodies of requests that require a recent proof by passkey. The same endpoints accept other bodies without a
 * proof.
 */
const CRITICAL_BODIES: ReadonlyMap<string, object | undefined> = new Map<string, object | undefined>([
  [`PATCH ${W}/members/:user_id`, { role: 'owner' }],
  // This request has no body. It requires a proof because the member is an admin.
  [`DELETE ${W}/members/:user_id`, undefined],
  [`POST ${W}/invitations`, { role: 'admin' }],
  [`PATCH ${W}/webhooks/:id`, { url: 'https://thief.example/x' }],
])

/** An owner proved their identity by passkey ten minutes ago, and somebody has stolen their cookie since then (D59). */
describe('a thief of a session cookie', () => {
  let server: ConsoleServer
  let owner: ConsoleFixture
  let admin: ConsoleFixture
  let viewer: ConsoleFixture
  let thief: Browser
  let accomplice: Visitor
  let ids: Readonly<Record<string, string>>
  before(async () => {
    server = await openConsoleServer()
    owner = await openConsoleFixture(server, { name: 'Owner' })
    admin = await openConsoleFixture(server, { workspace: owner.workspace, role: 'admin' })
    viewer = await openConsoleFixture(server, { workspace: owner.workspace, role: 'viewer' })
    const { key } = await issueKey(server.context, { workspaceId: owner.workspace.id, mode: 'test', actor: OPERATOR })
    const endpoint = await seedEndpoint(server.context, { workspace: owner.workspace })
    ids = { keys: key.id, webhooks: endpoint.id }
    await letProofGrowOld(owner)
    thief = new Browser(server)
    thief.cookies.set('session', owner.browser.cookies.get('session') ?? '')
    accomplice = await openVisitor(server, 'Thief')
  })
  after(() => server.close())

  test('can add a viewer, and cannot make anybody an owner or admin', async () => {
    const { invitation } = await thief.ask<{ invitation: { url: string } }>(
      'POST',
      owner.at('invitations'),
      { role: 'viewer' },
      201,
    )
    const token = invitation.url.split('/').at(-1)
    await accomplice.browser.ask('POST', '/console/invitations/accept', { token })
    for (const role of ['owner', 'admin']) {
      await thief.refuse('PATCH', owner.at(`members/${accomplice.userId}`), UNPROVED, { role })
    }
    // These are the next actions of a thief who wants to spend live money.
    const tooLow = { type: 'forbidden', code: 'role_insufficient' } as const
    for (const mode of ['live', 'test'] satisfies Mode[]) {
      await accomplice.browser.refuse('POST', owner.at('keys'), tooLow, { mode, name: 'Mine' })
    }
    assert.deepEqual(await listRoles(), ['admin', 'owner', 'viewer', 'viewer'])
  })

  test("cannot remove an owner or admin or lower their role, not even that of the cookie's owner", async () => {
    const second = await openConsoleFixture(server, { workspace: owner.workspace })
    for (const { userId } of [owner, second, admin]) {
      await thief.refuse('PATCH', owner.at(`members/${userId}`), UNPROVED, { role: 'viewer' })
      await thief.refuse('DELETE', owner.at(`members/${userId}`), UNPROVED)
    }
    assert.deepEqual((await listRoles()).slice(0, 3), ['admin', 'owner', 'owner'])
    // These two changes need no proof. The first one sets the role that the member already has. The second one removes
    // a viewer, who has no rights to lose.
    await thief.ask('PATCH', owner.at(`members/${admin.userId}`), { role: 'admin' })
    await thief.ask('DELETE', owner.at(`members/${accomplice.userId}`))
  })

  test('is tested at every endpoint that declares a proof for some requests', () => {
    const conditional = ENDPOINTS.filter(({ proof }) => proof === 'conditional').map(nameOf)
    assert.deepEqual([...CRITICAL_BODIES.keys()].toSorted(), conditional.toSorted())
  })

  for (const endpoint of ENDPOINTS.filter(({ method }) => method !== 'GET')) {
    const { method, path, proof, body } = endpoint
    const name = nameOf(endpoint)
    if (proof === 'required' || proof === 'conditional') {
      test(`cannot call ${name} without a proof`, async () => {
        thief.cookies.set('ceremony', 'x')
        await thief.refuse(method, fill(method, path), UNPROVED, CRITICAL_BODIES.get(name) ?? body)
      })
    } else {
      test(`needs no proof to call ${name}, which ${proof.notNeeded}`, async () => {
        // Each request uses another person's session, because signing out would end the thief's own session.
        const stale = await openConsoleFixture(server, { workspace: owner.workspace })
        await letProofGrowOld(stale)
        const answer = await stale.browser.call(method, fill(method, path), body)
        if (answer.status >= 400) assert.notEqual(readError(answer).code, UNPROVED.code)
      })
    }
  }

  test('needs no proof to read', () => {
    const reading = ENDPOINTS.filter(({ method }) => method === 'GET')
    assert.deepEqual(new Set(reading.map(({ proof }) => proof)), new Set([READS]))
  })

  test('loses the session as soon as the owner proves their identity', async () => {
    await verify(owner.browser, owner.passkey)
    await thief.refuse('GET', owner.at('members'), { type: 'unauthenticated' })
    await owner.browser.ask('PATCH', owner.at(`members/${viewer.userId}`), { role: 'admin' })
  })

  async function letProofGrowOld({ userId }: ConsoleFixture): Promise<void> {
    const tenMinutesAgo = new Date(server.clock.now().getTime() - RECENT_PROOF_MS)
    await readRows(server.context.db, 'update sessions set verified_at = $1 where user_id = $2', [
      tenMinutesAgo,
      userId,
    ])
  }

  async function listRoles(): Promise<string[]> {
    const { members } = await thief.ask<{ members: { role: string }[] }>('GET', owner.at('members'))
    return members.map(({ role }) => role).toSorted()
  }

  /** Replaces the path parameters with ids of existing items, so that the request could really change something. */
  function fill(method: string, path: string): string {
    const kind = /(keys|webhooks)\/:id/.exec(path)?.[1] ?? ''
    return path
      .replace(':slug', owner.workspace.slug)
      .replace(':address', ADDRESS)
      .replace(':user_id', method === 'PATCH' ? viewer.userId : admin.userId)
      .replace(':id', ids[kind] ?? 'x')
      .replace(':credential_id', 'x')
  }
})
