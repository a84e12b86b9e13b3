import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { hashSecret } from '../../server/src/values/secret.ts'
import { seedTokens } from '../support/context/connection-rows.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { readRows } from '../support/database/read-rows.ts'
import { expectError, readBody } from '../support/http-client.ts'
import { formatFields, FORM_TYPE, openOauthServer, type OauthServer } from '../support/service/oauth-server.ts'
import { paymentBody } from '../support/service/test-service.ts'

const MOVING = { status: 503, type: 'unavailable', code: 'workspace_moving' } as const
const MOVED = { status: 421, type: 'misdirected', code: 'workspace_moved' } as const

describe('a workspace that is moved to another cell', () => {
  let given: OauthServer
  let seeded: Seed
  before(async () => {
    given = await openOauthServer()
  })
  after(() => given.close())

  test('rejects requests that could write while it moves, and responds to reads', async () => {
    seeded = await seed(given.context)
    const set = 'update workspaces set moving_since = $2 where id = $1'
    await readRows(given.context.db, set, [seeded.workspace.id, given.clock.now()])
    const payment = { method: 'POST', path: '/v1/payments', key: seeded.key, body: paymentBody(seeded) }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    for (const call of [payment, { method: 'POST', path: '/mcp', key: seeded.key, body: message }]) {
      const answer = await given.call(call)
      expectError(answer, MOVING)
      assert.equal(answer.headers['retry-after'], '5')
    }
    readBody(await given.call({ path: '/v1/payments/pay_x', key: seeded.key }), 404)
    readBody(await given.call({ path: '/v1/agents', key: seeded.key }), 200)
    const stored = 'select id from payments where workspace_id = $1'
    assert.deepEqual(await readRows(given.context.db, stored, [seeded.workspace.id]), [])
    await readRows(given.context.db, set, [seeded.workspace.id, null])
    readBody(await given.call(payment), 201)
  })

  test('gets 503 once it was taken out, and 421 with the name of its cell once it has arrived', async () => {
    const key = await takeOut((await seed(given.context)).key)
    expectError(await given.call({ path: '/v1/agents', key }), MOVING)
    await arrive()
    const answer = await given.call({ path: '/v1/agents', key })
    assert.deepEqual(expectError(answer, MOVED).details, { cell: 'eu2' })
    assert.equal(answer.headers['bursar-cell'], 'eu2')
    assert.equal(answer.headers['www-authenticate'], undefined)
  })

  test('keeps the refresh token of a client, which gets 421 for it', async () => {
    const { client, tokens } = await seedTokens(given.context)
    const refreshToken = await takeOut(tokens.refreshToken)
    await arrive()
    const fields = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: client.id }
    const answer = await given.post('/oauth/token', formatFields(fields), { type: FORM_TYPE })
    assert.equal(answer.status, 421, answer.text)
    assert.equal((JSON.parse(answer.text) as { error: string }).error, 'temporarily_unavailable')
    assert.equal(answer.headers['bursar-cell'], 'eu2')
  })

  /** Leaves the cell without this credential, as if its workspace had been taken out. */
  async function takeOut(credential: string): Promise<string> {
    const hash = hashSecret(credential)
    await readRows(given.context.db, 'delete from api_keys where secret_hash = $1', [hash])
    await readRows(given.context.db, 'delete from refresh_tokens where token_hash = $1', [hash])
    await readRows(
      given.context.db,
      `insert into moves (id, workspace_id, slug, cell, state, started_at)
        values ($1, $1, 'northwind', 'eu2', 'taken_out', $2)`,
      [hash.toString('hex'), given.clock.now()],
    )
    const move = 'insert into moved_credentials (secret_hash, move_id) values ($1, $2)'
    await readRows(given.context.db, move, [hash, hash.toString('hex')])
    return credential
  }

  async function arrive(): Promise<void> {
    await readRows(given.context.db, `update moves set state = 'moved', ended_at = started_at`, [])
  }
})
