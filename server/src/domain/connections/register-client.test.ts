import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readAudit } from '../../../../test/support/context/audit.ts'
import { seedRequest, sessionOf } from '../../../../test/support/context/connection-rows.ts'
import { signUpPerson } from '../../../../test/support/context/people.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createId } from '../../values/ids.ts'
import { decideAuthorizationRequest } from './decide-authorization-request.ts'
import { findClient } from './queries.ts'
import { registerClient } from './register-client.ts'

describe('registerClient', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  test('a client is found by its id as registered, and is not in the audit log', async () => {
    const client = await register()
    assert.match(client.id, /^svc_client_[0-9A-Z]{26}$/)
    assert.deepEqual(await findClient(given.context, client), client)
    assert.deepEqual(await readAudit(given.context.db, client.id), [])
  })

  test('a denial by a user who never had a workspace is not logged either', async () => {
    const client = await register()
    const { handle } = await seedRequest(given.context, { client })
    const { userId, session } = await signUpPerson(given.context)
    const decided = await decideAuthorizationRequest(given.context, { handle, session, decision: { approve: false } })
    assert.equal(decided.error, 'access_denied')
    for (const logId of [client.id, userId]) assert.deepEqual(await readAudit(given.context.db, logId), [])
    assert.equal((await findClient(given.context, client))?.lastUsedAt, null)
  })

  test("only the first decision on one of its requests logs the client's registration", async () => {
    const client = await register()
    for (const approve of [false, true, false]) {
      const { handle, membership, mode, agentId } = await seedRequest(given.context, { client })
      const decision = approve ? { approve, membership, mode, agentId, scopes: null } : { approve }
      const session = sessionOf(given.context, membership)
      await decideAuthorizationRequest(given.context, { handle, session, decision })
    }
    assert.deepEqual(await readAudit(given.context.db, client.id), [
      {
        actor_kind: 'client',
        actor_id: client.id,
        action: 'client.registered',
        subject: client.id,
        details: { kind: 'registered', redirect_uris: 2, registered_at: client.createdAt.toISOString() },
      },
    ])
  })

  test('the same registration sent twice creates two clients', async () => {
    assert.notEqual((await register()).id, (await register()).id)
  })

  test('a malformed or unknown id finds no client', async () => {
    const unknown = createId('client', given.clock.now())
    for (const id of ['', 'svc_client_', unknown, `${unknown}'`, 'x'.repeat(8_192)]) {
      assert.equal(await findClient(given.context, { id }), null)
    }
  })

  function register() {
    const redirectUris = ['https://client.example/callback', 'http://127.0.0.1/callback']
    return registerClient(given.context, { name: 'Client', redirectUris, scopes: ['wallet:read'] })
  }
})
