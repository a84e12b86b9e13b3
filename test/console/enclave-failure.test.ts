import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { createAgent } from '../../server/src/domain/agents/create-agent.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError } from '../support/http-client.ts'
import { answerJson, startFakeServer, type FakeServer } from '../support/wires/fake-server.ts'
import { readRows } from '../support/database/read-rows.ts'
import { addWalletOwner } from '../support/context/people.ts'
import { agent, seedGrant, seedWallet } from '../support/context/seed.ts'
import { openConsoleFixture } from './console-fixture.ts'

/** A person cannot retry with an idempotency key, so the error messages differ from those for programs. */
describe('the enclave fails while a person creates a wallet or signs a grant', () => {
  let status: number
  let enclave: FakeServer
  let server: ConsoleServer
  before(async () => {
    enclave = await startFakeServer((_request, _body, response) => answerJson(response, { error: 'No.' }, status))
    server = await openConsoleServer((config) => ({ ...config, enclave: { ...config.enclave, apiUrl: enclave.url } }))
  })
  after(async () => {
    await server.close()
    await enclave.close()
  })

  const refused = ['enclave_refused', /Nothing was changed/] as const
  for (const [told, ofWallet, ofGrant] of [
    [
      503,
      ['wallet_not_created', /no wallet was added .* Create the wallet again/],
      ['enclave_outcome_unknown', /did not confirm .* Check this in a few minutes/],
    ],
    [400, refused, refused],
  ] as const) {
    test(`${told} is ${ofWallet[0]} for a wallet, and ${ofGrant[0]} for a grant`, async () => {
      status = told
      const fixture = await openConsoleFixture(server)
      const { workspace } = fixture
      const { credentialId } = await addWalletOwner(server.context, fixture.userId)
      const agentId = agent('payer')
      await createAgent(server.context, { workspaceId: workspace.id, mode: 'test', id: agentId, actor: OPERATOR })
      const wallet = await seedWallet(server.context, { workspace, mode: 'test' })
      const grant = await seedGrant(server.context, { workspace, mode: 'test', agentId, wallet })
      for (const [path, body, [code, message]] of [
        ['wallets', { mode: 'test', name: 'Treasury', credential_id: credentialId }, ofWallet],
        [`grants/${grant.id}/signing-request`, { change: 'revoke' }, ofGrant],
      ] as const) {
        const answered = await fixture.browser.call('POST', fixture.at(path), body)
        const error = expectError(answered, { type: 'internal', code })
        assert.match(error.message, message)
      }
      const wallets = 'select address from wallets where workspace_id = $1'
      assert.deepEqual(await readRows(server.context.db, wallets, [workspace.id]), [{ address: wallet }])
      const grants = 'select status, signing_request from grants where workspace_id = $1'
      assert.deepEqual(await readRows(server.context.db, grants, [workspace.id]), [
        { status: 'active', signing_request: null },
      ])
    })
  }
})
