import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ConnectionError } from '../../server/src/console/contract/connection-errors.ts'
import { exchange, REDIRECT_URI, seedConnection } from '../support/context/connection-rows.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { waitFor } from '../support/wait-for.ts'
import { openConsoleFixture } from './console-fixture.ts'

describe('the errors of connections in the dashboard (D73a)', () => {
  let server: ConsoleServer
  before(async () => {
    server = await openConsoleServer()
  })
  after(() => server.close())

  test('a viewer reads the last errors of the workspace in one mode, without anything that the client sent', async () => {
    const ctx = server.context
    const fixture = await openConsoleFixture(server, { role: 'viewer' })
    const seeded = await seedConnection(ctx, { workspace: fixture.workspace, mode: 'live' })
    const earliest = ctx.clock.now()
    await exchange(ctx, seeded, { codeVerifier: 'a'.repeat(43) })
    const list = async (mode: string) => {
      const path = `${fixture.at('connection-errors')}?mode=${mode}`
      return (await fixture.browser.ask<{ errors: readonly ConnectionError[] }>('GET', path)).errors
    }
    await waitFor('the error', async () => (await list('live')).length === 1)
    const [error] = await list('live')
    assert.deepEqual(error, {
      connection_id: error?.connection_id,
      client: { name: 'Test client', document_host: null, redirect_hosts: [new URL(REDIRECT_URI).host] },
      agent_id: seeded.agentId,
      user_name: 'Ada',
      code: 'code_verifier_mismatch',
      happened_at: error?.happened_at,
    })
    assert.match(error?.connection_id ?? '', /^con_/)
    assert.ok(new Date(error?.happened_at ?? 0) >= earliest)
    assert.deepEqual(await list('test'), [])
  })
})
