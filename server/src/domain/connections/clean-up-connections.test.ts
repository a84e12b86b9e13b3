import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  exchange,
  issued,
  readConnection,
  refresh,
  seedConnection,
  seedRequest,
  seedTokens,
  sessionOf,
  stopClock,
} from '../../../../test/support/context/connection-rows.ts'
import { readPlan } from '../../../../test/support/database/read-plan.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Context } from '../context.ts'
import { cleanUpOnce } from '../../jobs/clean-up.ts'
import { decideAuthorizationRequest } from './decide-authorization-request.ts'
import { findClient } from './queries.ts'
import {
  ACCESS_TOKEN_LIFETIME_SECONDS,
  CLEAN_UP_ROWS_MAX,
  CODE_RETENTION_MS,
  CODE_LIFETIME_MS,
  REFRESH_TOKEN_LIFETIME_MS,
  REQUEST_LIFETIME_MS,
  UNUSED_CLIENT_RETENTION_MS,
  UNUSED_CONNECTION_RETENTION_MS,
} from './limits.ts'
import { registerClient } from './register-client.ts'
import { deleteUnusedConnections } from './connections-store.ts'

describe('cleanUpConnections', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('each table is cleaned exactly when its own retention is over', async () => {
    const still = stopClock(ctx)
    await seedTokens(still)
    const ends: readonly (readonly [string, number])[] = [
      ['authorization_requests', REQUEST_LIFETIME_MS],
      ['access_tokens', ACCESS_TOKEN_LIFETIME_SECONDS * 1_000],
      ['authorization_codes', CODE_LIFETIME_MS + CODE_RETENTION_MS],
      ['refresh_tokens', REFRESH_TOKEN_LIFETIME_MS],
    ]
    let passed = 0
    for (const [table, end] of ends) {
      still.move(end - passed - 1)
      passed = end
      assert.equal(await cleanUpOnce(still, 'connections'), 0, table)
      assert.equal(await countRows(table), 1, table)
      still.move(1)
      assert.equal(await cleanUpOnce(still, 'connections'), 1, table)
      assert.equal(await countRows(table), 0, table)
    }
  })

  test('a used refresh token is still recognized until it would have expired', async () => {
    const still = stopClock(ctx)
    const seeded = await seedTokens(still)
    issued(await refresh(still, seeded, seeded.tokens.refreshToken))
    still.move(REFRESH_TOKEN_LIFETIME_MS - 1)
    await cleanUpOnce(still, 'connections')
    assert.equal((await refresh(still, seeded, seeded.tokens.refreshToken)).kind, 'refused')
    assert.equal((await readConnection(still, seeded)).revokedBecause, 'refresh_reuse')
  })

  test('a used code is still recognized for a day after it expired', async () => {
    const still = stopClock(ctx)
    const seeded = await seedTokens(still)
    still.move(CODE_LIFETIME_MS + CODE_RETENTION_MS - 1)
    await cleanUpOnce(still, 'connections')
    assert.equal((await exchange(still, seeded)).kind, 'refused')
    assert.equal((await readConnection(still, seeded)).revokedBecause, 'code_replay')
  })

  test('a client is deleted 7 days after its registration if no user ever decided on it, and otherwise never', async () => {
    const still = stopClock(ctx)
    const unused = await registerClient(still, {
      name: 'U',
      redirectUris: ['https://u.example/'],
      scopes: ['x402:pay'],
    })
    const approved = await seedConnection(still)
    const denied = await seedRequest(still)
    const { handle, membership } = denied
    await decideAuthorizationRequest(still, {
      handle,
      session: sessionOf(still, membership),
      decision: { approve: false },
    })
    still.move(UNUSED_CLIENT_RETENTION_MS - 1)
    const waiting = await seedRequest(still, { client: unused })
    await cleanUpOnce(still, 'connections')
    assert.ok((await findClient(ctx, unused)) !== null)
    still.move(1)
    await cleanUpOnce(still, 'connections')
    assert.ok((await findClient(ctx, waiting.client)) !== null, 'a request of it waits')
    still.move(REQUEST_LIFETIME_MS)
    await cleanUpOnce(still, 'connections')
    assert.equal(await findClient(ctx, unused), null)
    for (const { client } of [approved, denied]) assert.ok((await findClient(ctx, client)) !== null)
  })

  test('only connections whose code was never exchanged are deleted a day after the code expired, with their rate windows', async () => {
    const still = stopClock(ctx)
    const [unused, used] = [await seedConnection(still), await seedTokens(still)]
    const subjects = await readRows(ctx.db, 'select rate_subject from connections where workspace_id = $1', [
      unused.membership.workspace.id,
    ])
    still.move(CODE_LIFETIME_MS + UNUSED_CONNECTION_RETENTION_MS - 1)
    await cleanUpOnce(still, 'connections')
    assert.equal((await readConnection(still, unused)).revokedBecause, null)
    still.move(1)
    await cleanUpOnce(still, 'connections')
    await assert.rejects(readConnection(still, unused))
    for (const { rate_subject: subject } of subjects) {
      assert.deepEqual(await readRows(ctx.db, 'select 1 from rate_windows where subject = $1', [subject]), [])
    }
    assert.equal((await readConnection(still, used)).revokedBecause, null)
    assert.equal((await exchange(still, unused)).kind, 'refused')
  })

  test('unused connections are found by their index among many others', async () => {
    const still = stopClock(ctx)
    const seeded = await seedTokens(still)
    await readRows(
      ctx.db,
      `insert into connections (workspace_id, id, mode, agent_id, user_id, member_since, client_id, scopes, rate_subject,
          created_at, expires_at, connected_at)
        select workspace_id, id || n, mode, agent_id, user_id, member_since, client_id, scopes, rate_subject, created_at,
          expires_at, connected_at
        from connections cross join generate_series(1, 5000) n where workspace_id = $1`,
      [seeded.membership.workspace.id],
    )
    const query = deleteUnusedConnections(still.clock.now(), CLEAN_UP_ROWS_MAX)
    const plan = await readPlan(ctx.db, ['connections', 'authorization_codes'], query)
    assert.match(plan, /Index Scan using connections_never_exchanged/)
  })

  test('one run deletes a limited number of rows, and repeated runs delete everything', async () => {
    const still = stopClock(ctx)
    const { client } = await seedRequest(still)
    const rows = CLEAN_UP_ROWS_MAX + 1
    await readRows(
      ctx.db,
      `insert into authorization_requests (handle_hash, client_id, redirect_uri, scopes, state, code_challenge,
          created_at, expires_at)
        select sha256(n::text::bytea), $1, 'https://client.example/', '{wallet:read}', 's', repeat('c', 43), $2, $2
        from generate_series(1, $3) n`,
      [client.id, still.clock.now(), rows],
    )
    const processes = [still, { ...still, db: given.openAnother().db }]
    const deleted = await Promise.all(processes.map((process) => cleanUpOnce(process, 'connections')))
    for (const count of deleted) assert.ok(count <= CLEAN_UP_ROWS_MAX)
    const rest = await cleanUpOnce(still, 'connections')
    assert.equal(deleted.reduce((sum, count) => sum + count, 0) + rest, rows)
    assert.equal(await cleanUpOnce(still, 'connections'), 0)
  })

  async function countRows(table: string): Promise<number> {
    return (await readRows(ctx.db, `select 1 from ${table}`)).length
  }
})
