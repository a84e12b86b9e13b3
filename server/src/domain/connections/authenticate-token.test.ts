import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  issued,
  joinWorkspace,
  leaveWorkspace,
  readConnection,
  refresh,
  seedTokens,
  setRole,
  stopClock,
  type ConnectedClient,
} from '../../../../test/support/context/connection-rows.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { startRoundTripCounter } from '../../../../test/support/database/round-trip-counter.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { Database } from '../../db/database.ts'
import { createLogger } from '../../lib/logger.ts'
import type { Bucket } from '../../limiter/bucket.ts'
import type { Scope } from '../../values/scope.ts'
import { createSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { Context } from '../context.ts'
import { authenticateToken } from './authenticate-token.ts'
import { revokeConnection } from './revoke-connection.ts'

const HOUR_MS = 60 * 60 * 1_000

describe('authenticateToken', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('a token identifies its connection, its workspace and its scopes', async () => {
    const still = stopClock(ctx)
    const seeded = await seedTokens(still, { mode: 'live', scopes: ['wallet:read'] })
    const { workspace } = seeded.membership
    const found = await authenticate(seeded.tokens.accessToken, {}, still)
    assert.ok(found !== null)
    const { rateSubject, ...connection } = found.connection
    assert.equal(rateSubject.length, 32)
    assert.deepEqual(connection, {
      id: (await readConnection(ctx, seeded)).id,
      workspaceId: workspace.id,
      mode: 'live',
      agentId: seeded.agentId,
      userId: seeded.membership.userId,
      clientId: seeded.client.id,
      resource: null,
      expiresAt: new Date(still.clock.now().getTime() + 30 * 24 * HOUR_MS),
    })
    assert.deepEqual(found.scopes, ['wallet:read'])
    assert.deepEqual(found.workspace, {
      slug: workspace.slug,
      name: workspace.name,
      plan: 'developer',
      createdBy: null,
      movingSince: null,
    })
    assert.equal(found.hasScope, true)
  })

  test('a token that was never issued is rejected', async () => {
    for (const credential of [createSecret(SECRET_PREFIXES.accessToken), 'svc_oat_', '', 'x'.repeat(8_192)]) {
      assert.equal(await authenticate(credential), null)
    }
  })

  test('a token works for exactly one hour', async () => {
    const still = stopClock(ctx)
    const { tokens } = await seedTokens(still)
    still.move(HOUR_MS - 1)
    assert.ok((await authenticate(tokens.accessToken, {}, still)) !== null)
    still.move(1)
    assert.equal(await authenticate(tokens.accessToken, {}, still), null)
  })

  test('after a revocation, the next request on another process is rejected', async () => {
    const other = given.openAnother()
    const seeded = await seedTokens(ctx)
    const { accessToken } = seeded.tokens
    for (const lane of [1, 2]) assert.ok((await authenticate(accessToken, {}, other)) !== null, `lane ${lane}`)
    const { id } = await readConnection(ctx, seeded)
    await revokeConnection(ctx, { workspaceId: seeded.membership.workspace.id, id, actor: OPERATOR })
    for (const lane of [1, 2]) assert.equal(await authenticate(accessToken, {}, other), null, `lane ${lane}`)
  })

  test('a token stops working when the user who consented leaves the workspace, and still does not work when they join again', async () => {
    const seeded = await seedTokens(ctx)
    await leaveWorkspace(ctx, seeded.membership)
    assert.equal(await authenticate(seeded.tokens.accessToken), null)
    const createdAt = new Date(seeded.membership.createdAt.getTime() + 1)
    await joinWorkspace(ctx, { ...seeded.membership, createdAt })
    assert.equal(await authenticate(seeded.tokens.accessToken), null)
  })

  test('a membership created by a process whose clock is ahead is valid like any other', async () => {
    const ahead = stopClock(ctx)
    ahead.move(5 * 60 * 1_000)
    const first = await seedTokens(ahead)
    const seeded = await seedTokens(ctx, { membership: first.membership })
    assert.ok((await authenticate(seeded.tokens.accessToken)) !== null)
  })

  test('a token does not work while the user who consented is only a viewer', async () => {
    const seeded = await seedTokens(ctx)
    await setRole(ctx, seeded.membership, 'viewer')
    assert.equal(await authenticate(seeded.tokens.accessToken), null)
    await setRole(ctx, seeded.membership, 'admin')
    assert.ok((await authenticate(seeded.tokens.accessToken)) !== null)
  })

  test('requests count against the connection, so refreshing does not give a new budget', async () => {
    const still = stopClock(ctx)
    const seeded = await seedTokens(still)
    let { tokens } = seeded
    for (let remaining = 59; remaining >= 0; remaining -= 1) {
      const found = await authenticate(tokens.accessToken, {}, still)
      assert.deepEqual([found?.rate.allowed, found?.rate.remaining], [true, remaining])
      if (remaining % 20 === 0) tokens = issued(await refresh(still, seeded, tokens.refreshToken))
    }
    const resetAt = new Date(still.clock.now().getTime() + 60_000)
    for (const { accessToken } of [tokens, seeded.tokens]) {
      const found = await authenticate(accessToken, {}, still)
      assert.deepEqual(found?.rate, { allowed: false, limit: 60, remaining: 0, resetAt })
    }
    const payments = await authenticate(tokens.accessToken, { bucket: 'payments' }, still)
    assert.equal(payments?.rate.remaining, 29)
    still.move(60_000)
    assert.equal((await authenticate(tokens.accessToken, {}, still))?.rate.remaining, 59)
  })

  test('each connection has its own budget, even two of the same client and user', async () => {
    const seeded = await seedTokens(ctx)
    const { membership, client, agentId } = seeded
    const other = await seedTokens(ctx, { membership, client, agentId })
    await authenticate(seeded.tokens.accessToken)
    assert.equal((await authenticate(seeded.tokens.accessToken))?.rate.remaining, 58)
    assert.equal((await authenticate(other.tokens.accessToken))?.rate.remaining, 59)
  })

  test('a request without the required scope is rejected for this reason, and is not counted', async () => {
    const { tokens } = await seedTokens(ctx, { scopes: ['wallet:read'] })
    assert.equal((await authenticate(tokens.accessToken))?.rate.remaining, 59)
    for (let time = 0; time < 3; time += 1) {
      const found = await authenticate(tokens.accessToken, { requiredScope: 'wallet:transfer' })
      assert.deepEqual([found?.hasScope, found?.rate.allowed, found?.rate.remaining], [false, true, 59])
    }
    const found = await authenticate(tokens.accessToken, { requiredScope: 'wallet:read' })
    assert.deepEqual([found?.hasScope, found?.rate.remaining], [true, 58])
  })

  test('of 200 parallel requests over two processes, with two tokens, exactly 60 are counted', async () => {
    const processes = [given.context, given.openAnother()] as const
    const seeded = await seedTokens(ctx)
    const tokens = [seeded.tokens, issued(await refresh(ctx, seeded, seeded.tokens.refreshToken))] as const
    const found = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        authenticate(tokens[index % 3 === 0 ? 0 : 1].accessToken, {}, processes[index % 2 === 0 ? 0 : 1]),
      ),
    )
    const remaining = found.flatMap((holder) => (holder?.rate.allowed === true ? [holder.rate.remaining] : []))
    assert.deepEqual(
      remaining.toSorted((left, right) => right - left),
      Array.from({ length: 60 }, (_, index) => 59 - index),
    )
  })

  test('authentication takes one round trip, or three for a token without the scope: they also read the rate limit and record why', async () => {
    const wire = await startRoundTripCounter(given.config.database.url)
    const db = new Database({ url: wire.url, connectionsMax: 1 }, createLogger('silent'))
    try {
      const tripsOf = async (seeded: ConnectedClient, requiredScope: Scope | null): Promise<number> => {
        const { accessToken } = seeded.tokens
        const ways = { db, deferredWrites: ctx.deferredWrites, clock: ctx.clock }
        // These first calls open the database connections and prepare their statements.
        for (let time = 0; time < 4; time += 1) await authenticate(accessToken, { requiredScope }, ways)
        const before = wire.count()
        for (let time = 0; time < 10; time += 1) {
          assert.ok((await authenticate(accessToken, { requiredScope }, ways)) !== null)
        }
        return (wire.count() - before) / 10
      }
      assert.equal(await tripsOf(await seedTokens(ctx), 'wallet:transfer'), 1)
      const narrow = await seedTokens(ctx, { scopes: ['wallet:read'] })
      // The reason is written at most once a minute, and later than the response. This write must not be counted.
      await authenticate(narrow.tokens.accessToken, { requiredScope: 'wallet:transfer' })
      const { id } = await readConnection(ctx, narrow)
      const reasons = 'select code from connection_errors where connection_id = $1'
      await waitFor('the reason', async () => (await readRows(ctx.db, reasons, [id])).length > 0)
      assert.equal(await tripsOf(narrow, 'wallet:transfer'), 3)
    } finally {
      await db.close()
      await wire.close()
    }
  })

  test('only hashes of codes, tokens and handles are stored', async () => {
    const seeded = await seedTokens(ctx)
    const second = issued(await refresh(ctx, seeded, seeded.tokens.refreshToken))
    const tables = [
      'oauth_clients',
      'authorization_requests',
      'connections',
      'authorization_codes',
      'access_tokens',
      'refresh_tokens',
      'rate_windows',
      'audit_entries',
    ]
    const secrets = [seeded.handle, seeded.code, seeded.verifier, ...secretsOf(seeded.tokens), ...secretsOf(second)]
    for (const table of tables) {
      const rows = await readRows(ctx.db, `select t::text as row from ${table} t`)
      assert.ok(rows.length > 0, table)
      const text = rows.map((row) => String(row['row'])).join('\n')
      for (const secret of secrets) {
        assert.ok(!text.includes(secret), table)
        assert.ok(!text.includes(Buffer.from(secret).toString('hex')), table)
      }
    }
  })

  test('of requests with two tokens of one connection and one of another at once, each is counted', async () => {
    const first = await seedTokens(ctx)
    const second = issued(await refresh(ctx, first, first.tokens.refreshToken))
    const other = await seedTokens(ctx)
    const kinds = [first.tokens.accessToken, second.accessToken, other.tokens.accessToken]
    const asked = Array.from({ length: 20 }, () => kinds).flat()
    const answers = await Promise.all(asked.map((credential) => authenticate(credential)))
    const left = (places: readonly number[]) =>
      answers
        .filter((_, index) => places.includes(index % kinds.length))
        .map((answer) => answer?.rate.remaining ?? -1)
        .toSorted((one, another) => one - another)
    assert.deepEqual(
      left([0, 1]),
      Array.from({ length: 40 }, (_, index) => 20 + index),
    )
    assert.deepEqual(
      left([2]),
      Array.from({ length: 20 }, (_, index) => 40 + index),
    )
  })

  function secretsOf({ accessToken, refreshToken }: ConnectedClient['tokens']): string[] {
    return [accessToken, refreshToken]
  }

  function authenticate(
    credential: string,
    { bucket = 'default', requiredScope = null }: { bucket?: Bucket; requiredScope?: Scope | null } = {},
    ways: Pick<Context, 'db' | 'deferredWrites' | 'clock'> = ctx,
  ) {
    return authenticateToken(ways, { credential, bucket, requiredScope })
  }
})
