import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { createInvitation } from '../../server/src/domain/members/create-invitation.ts'
import { createInvitedWorkspace } from '../../server/src/domain/members/create-invited-workspace.ts'
import { revokeInvitation } from '../../server/src/domain/members/revoke-invitation.ts'
import { seedWorkspace } from '../support/context/connection-rows.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { Browser } from './browser.ts'
import { readSession, signUp } from './person.ts'

const PATH = '/console/sign-up/options'

describe('SIGN_UP=invited', () => {
  let server: ConsoleServer
  before(async () => {
    server = await openConsoleServer((config) => ({ ...config, signUp: 'invited' }))
  })
  after(() => server.close())

  test('a sign-up requires a valid invitation, and the sign-up page can show this beforehand', async () => {
    const workspace = await seedWorkspace(server.context)
    const { invitation, secret } = await createInvitation(server.context, {
      workspace,
      role: 'viewer',
      actor: OPERATOR,
    })
    const browser = new Browser(server)
    assert.deepEqual(await browser.ask('GET', '/console/session'), { session: null, sign_up: 'invited' })
    const refused = { type: 'forbidden', code: 'sign_up_invited_only' } as const
    const unknown = { type: 'not_found', code: 'invitation_not_found' } as const
    await browser.refuse('POST', PATH, refused, { name: 'Ada' })
    await browser.refuse('POST', PATH, unknown, { name: 'Ada', invitation: 'svc_inv_x' })
    await browser.ask('POST', PATH, { name: 'Ada', invitation: secret })
    await revokeInvitation(server.context, { workspaceId: workspace.id, id: invitation.id, actor: OPERATOR })
    await browser.refuse('POST', PATH, unknown, { name: 'Ada', invitation: secret })
  })

  test('the operator’s invitation makes one person the owner of a new workspace', async () => {
    const { workspace, secret } = await createInvitedWorkspace(server.context, { name: 'Northwind' })
    const { browser } = await signUp(server, new Browser(server), 'Ada', secret)
    await browser.ask('POST', '/console/invitations/accept', { token: secret })
    const session = await readSession(browser)
    assert.partialDeepStrictEqual(session?.workspaces, [{ slug: workspace.slug, role: 'owner' }])
    const late = new Browser(server)
    await late.refuse(
      'POST',
      PATH,
      { type: 'not_found', code: 'invitation_not_found' },
      { name: 'Bo', invitation: secret },
    )
  })
})
