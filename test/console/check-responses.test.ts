import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { AGENT_ROUTES } from '../../server/src/console/contract/agents.ts'
import { openHttp } from '../../server/src/http/open-http.ts'
import { send } from '../support/http-client.ts'
import { checkResponses } from '../support/service/check-responses.ts'
import { openTestContext, type TestContext } from '../support/context/test-context.ts'

const AGENT = {
  id: 'a',
  status: 'active',
  mode: 'test',
  created_at: '2026-01-01T00:00:00.000Z',
  active_signers: 1,
  pending_signers: 0,
  wallets: [],
  state: 'active',
  label: null,
}
const { created_at: _, ...WITHOUT_TIME } = AGENT

/**
 * Tests the check of responses against their contract. All tests in this folder rely on it, so it must find faulty
 * responses.
 */
describe('the check of responses against their contract', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  test('accepts a response that matches the contract', async () => {
    assert.deepEqual(await call(AGENT), { status: 200, isFaulty: false })
  })

  const faults: readonly (readonly [string, object])[] = [
    ['a member that the contract does not list', { ...AGENT, secret: 'x' }],
    ['a missing member', WITHOUT_TIME],
    ['a value that is not in the list of allowed values', { ...AGENT, status: 'asleep' }],
    ['a value of another type', { ...AGENT, active_signers: '1' }],
    ['a fraction where the contract says integer', { ...AGENT, active_signers: 1.5 }],
    ['a text that is not a time', { ...AGENT, created_at: 'yesterday' }],
  ]
  for (const [name, agent] of faults) {
    test(`finds ${name}`, async () => {
      assert.deepEqual(await call(agent), { status: 500, isFaulty: true })
    })
  }

  /** Calls an endpoint that has a schema of the contract and whose handler returns `agent`. */
  async function call(agent: object): Promise<{ status: number; isFaulty: boolean }> {
    const http = openHttp(given.config, { clock: given.clock, logger: given.context.logger })
    const assertChecked = checkResponses(http)
    const { response } = AGENT_ROUTES.get.schema
    http.get('/console/agent', { schema: { response: { ...response } } }, async (_request, reply) => {
      // Converting to JSON and back hides the type of `agent` from the compiler, so that the tests can return wrong
      // values. The compiler would not notice a wrong value from the database either.
      return reply.send(JSON.parse(JSON.stringify({ agent })))
    })
    const url = await http.listen({ host: '127.0.0.1', port: 0 })
    const { status } = await send(url, { path: '/console/agent', host: 'localhost' })
    await http.close()
    try {
      assertChecked()
      return { status, isFaulty: false }
    } catch {
      return { status, isFaulty: true }
    }
  }
})
