import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { readRows } from '../../../../test/support/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/test-context.ts'
import { createId } from '../../values/ids.ts'
import { findClient } from './find-client.ts'
import { registerClient } from './register-client.ts'

describe('registerClient', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  test('a client is found by its id as it was registered, and its registration stands in its own log', async () => {
    const client = await register()
    assert.match(client.id, /^svc_client_[0-9A-Z]{26}$/)
    assert.deepEqual(await findClient(given.context, client), client)
    const [entry] = await readRows(given.context.db, 'select * from audit_entries where log_id = $1', [client.id])
    assert.deepEqual([entry?.['action'], entry?.['actor_kind']], ['client.registered', 'client'])
  })

  test('J11: the same registration twice makes two clients', async () => {
    assert.notEqual((await register()).id, (await register()).id)
  })

  test('what is no id, or of no client, finds nothing', async () => {
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
