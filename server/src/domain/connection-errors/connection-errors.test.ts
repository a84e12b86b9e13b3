import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  exchange,
  isAlive,
  issued,
  leaveWorkspace,
  readConnection,
  refresh,
  seedWorkspace,
  seedConnection,
  seedTokens,
  setRole,
  stopClock,
  type ConnectedClient,
} from '../../../../test/support/context/connection-rows.ts'
import { readPlan } from '../../../../test/support/database/read-plan.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { waitFor } from '../../../../test/support/wait-for.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import { authenticateToken } from '../connections/authenticate-token.ts'
import { CODE_FAILURES_MAX, CODE_LIFETIME_MS, REFRESH_TOKEN_LIFETIME_MS } from '../connections/limits.ts'
import { revokeConnection } from '../connections/revoke-connection.ts'
import type { Context } from '../context.ts'
import { cleanUpOnce } from '../../jobs/clean-up.ts'
import {
  ERROR_RETENTION_MS,
  ERRORS_LISTED_MAX,
  RECORD_INTERVAL_MS,
  type ConnectionErrorCode,
} from './connection-error.ts'
import { listConnectionErrors } from './list-connection-errors.ts'
import { deleteOldErrors, findPresented, listErrorRows } from './connection-errors-store.ts'

const TABLES = ['connections', 'connection_errors', 'access_tokens', 'refresh_tokens', 'authorization_codes']

type Still = ReturnType<typeof stopClock>

/** Each error that is listed if a client that was just approved does not get its first tokens, and what causes it. */
const CODE_FAILURES: readonly (readonly [
  ConnectionErrorCode,
  (still: Still, seeded: Awaited<ReturnType<typeof seedConnection>>) => Promise<unknown>,
])[] = [
  ['code_verifier_mismatch', (still, seeded) => exchange(still, seeded, { codeVerifier: 'a'.repeat(43) })],
  ['redirect_uri_mismatch', (still, seeded) => exchange(still, seeded, { redirectUri: 'https://other.example/' })],
  ['client_mismatch', (still, seeded) => exchange(still, seeded, { clientId: 'svc_client_other' })],
  ['resource_mismatch', (still, seeded) => exchange(still, seeded, { resource: 'https://other.example' })],
  [
    'code_expired',
    async (still, seeded) => {
      still.move(CODE_LIFETIME_MS)
      await exchange(still, seeded)
    },
  ],
  [
    'consent_lost',
    async (still, seeded) => {
      await leaveWorkspace(still, seeded.membership)
      await exchange(still, seeded)
    },
  ],
]

/** Each error that is listed if a request of a client that has tokens fails, and what causes it. */
const TOKEN_FAILURES: readonly (readonly [
  ConnectionErrorCode,
  (still: Still, seeded: ConnectedClient) => Promise<unknown>,
])[] = [
  ['code_used_twice', (still, seeded) => exchange(still, seeded)],
  [
    'refresh_token_used_twice',
    async (still, seeded) => {
      issued(await refresh(still, seeded, seeded.tokens.refreshToken))
      await refresh(still, seeded, seeded.tokens.refreshToken)
    },
  ],
  [
    'client_mismatch',
    (still, seeded) => refresh(still, seeded, seeded.tokens.refreshToken, { clientId: 'svc_client_other' }),
  ],
  [
    'resource_mismatch',
    (still, seeded) => refresh(still, seeded, seeded.tokens.refreshToken, { resource: 'https://a.b' }),
  ],
  [
    'scope_not_granted',
    (still, seeded) => refresh(still, seeded, seeded.tokens.refreshToken, { scopes: ['x402:pay'] }),
  ],
  [
    'connection_expired',
    async (still, seeded) => {
      still.move(REFRESH_TOKEN_LIFETIME_MS)
      await refresh(still, seeded, seeded.tokens.refreshToken)
    },
  ],
  [
    'connection_ended',
    async (still, seeded) => {
      const { id } = await readConnection(still, seeded)
      await revokeConnection(still, { workspaceId: seeded.membership.workspace.id, id, actor: OPERATOR })
      assert.equal(await isAlive(still, seeded.tokens.accessToken), false)
    },
  ],
  [
    'consent_lost',
    async (still, seeded) => {
      await setRole(still, seeded.membership, 'viewer')
      assert.equal(await isAlive(still, seeded.tokens.accessToken), false)
    },
  ],
  [
    'scope_missing',
    (still, seeded) =>
      authenticateToken(still, {
        credential: seeded.tokens.accessToken,
        bucket: 'payments',
        requiredScope: 'x402:pay',
      }),
  ],
]

describe('the errors of connections (D73a)', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  for (const [code, fail] of CODE_FAILURES) {
    test(`a failed exchange is recorded: ${code}`, async () => {
      const still = stopClock(ctx)
      const seeded = await seedConnection(still, { resource: 'https://api.example' })
      await fail(still, seeded)
      const [error] = await expectCodes(still, seeded, [code])
      assert.deepEqual(error, {
        connectionId: (await readConnection(still, seeded)).id,
        client: { id: seeded.client.id, kind: 'registered', name: 'Test client', redirectUris: [seeded.redirectUri] },
        mode: 'test',
        agentId: seeded.agentId,
        userName: 'Ada',
        code,
        happenedAt: still.clock.now(),
      })
    })
  }

  for (const [code, fail] of TOKEN_FAILURES) {
    test(`a failure of a connected client is recorded: ${code}`, async () => {
      const still = stopClock(ctx)
      const seeded = await seedTokens(still, { resource: 'https://api.example', scopes: ['wallet:read'] })
      still.move(1)
      await fail(still, seeded)
      await expectCodes(still, seeded, [code])
    })
  }

  test('a code that had too many failures is reported as blocked', async () => {
    const still = stopClock(ctx)
    const seeded = await seedConnection(still)
    for (let count = 0; count < CODE_FAILURES_MAX; count += 1) {
      await exchange(still, seeded, { codeVerifier: 'a'.repeat(43) })
    }
    await exchange(still, seeded)
    await expectCodes(still, seeded, ['code_blocked', 'code_verifier_mismatch'])
  })

  test('an approved code that the application never exchanged is an error, until the same person connects again', async () => {
    const still = stopClock(ctx)
    const seeded = await seedConnection(still)
    await expectCodes(still, seeded, [])
    still.move(CODE_LIFETIME_MS)
    await expectCodes(still, seeded, ['code_not_exchanged'])
    await exchange(still, seeded)
    await expectCodes(still, seeded, ['code_expired'])
    still.move(1)
    const { client, membership } = seeded
    await seedTokens(still, { client, workspace: membership.workspace })
    await expectCodes(still, seeded, ['code_expired'])
    await seedTokens(still, { client, membership })
    await expectCodes(still, seeded, [])
  })

  test('a code that was never exchanged is no error if the person connected again before it expired', async () => {
    const still = stopClock(ctx)
    const seeded = await seedConnection(still)
    still.move(CODE_LIFETIME_MS / 2)
    await seedTokens(still, { client: seeded.client, membership: seeded.membership })
    still.move(CODE_LIFETIME_MS / 2)
    await expectCodes(still, seeded, [])
  })

  test('an access token that has expired is no error, because clients then refresh', async () => {
    const still = stopClock(ctx)
    const seeded = await seedTokens(still)
    still.move(60 * 60 * 1_000)
    assert.equal(await isAlive(still, seeded.tokens.accessToken), false)
    await exchange(still, await seedConnection(still, { membership: seeded.membership }), { codeVerifier: '' })
    // Errors are written in order. An error for the expired token would be written before `code_verifier_mismatch`.
    await expectCodes(still, seeded, ['code_verifier_mismatch'])
  })

  test('an unknown code leaves no row, and an error is listed in its own workspace and mode only', async () => {
    const still = stopClock(ctx)
    const before = await countErrors()
    const seeded = await seedConnection(still)
    await exchange(still, { ...seeded, code: `svc_oac_${'0'.repeat(49)}` })
    await exchange(still, seeded, { codeVerifier: '' })
    await expectCodes(still, seeded, ['code_verifier_mismatch'])
    assert.equal(await countErrors(), before + 1)
    const other = await seedWorkspace(still)
    assert.deepEqual(await listConnectionErrors(still, { workspaceId: other.id, mode: 'test' }), [])
    assert.deepEqual(
      await listConnectionErrors(still, { workspaceId: seeded.membership.workspace.id, mode: 'live' }),
      [],
      'the other mode has none',
    )
  })

  test('the same error is written once a minute at most, and then has the new time', async () => {
    const still = stopClock(ctx)
    const seeded = await seedTokens(still, { scopes: ['wallet:read'] })
    const fail = () => refresh(still, seeded, seeded.tokens.refreshToken, { scopes: ['x402:pay'] })
    await fail()
    const [first] = await expectCodes(still, seeded, ['scope_not_granted'])
    still.move(RECORD_INTERVAL_MS - 1)
    await fail()
    // Errors are written in order. If the repeated error were written again, that would happen before this new error.
    await refresh(still, seeded, seeded.tokens.refreshToken, { clientId: 'svc_client_other' })
    const [, unchanged] = await expectCodes(still, seeded, ['client_mismatch', 'scope_not_granted'])
    assert.deepEqual(unchanged, first)
    still.move(1)
    await fail()
    await waitFor('the new time', async () => {
      const [again] = await expectCodes(still, seeded, ['client_mismatch', 'scope_not_granted'])
      return again?.happenedAt.getTime() === still.clock.now().getTime()
    })
  })

  test('a list has the newest errors only', async () => {
    const still = stopClock(ctx)
    const { membership, client } = await seedConnection(still)
    for (let count = 0; count < ERRORS_LISTED_MAX; count += 1) await seedConnection(still, { membership, client })
    still.move(CODE_LIFETIME_MS)
    const listed = await listConnectionErrors(still, { workspaceId: membership.workspace.id, mode: 'test' })
    assert.equal(listed.length, ERRORS_LISTED_MAX)
  })

  test('errors are deleted after 30 days', async () => {
    const still = stopClock(ctx)
    const seeded = await seedConnection(still)
    await exchange(still, seeded, { codeVerifier: '' })
    await expectCodes(still, seeded, ['code_verifier_mismatch'])
    still.move(ERROR_RETENTION_MS - 1)
    await cleanUpOnce(still, 'connectionErrors')
    await expectCodes(still, seeded, ['code_verifier_mismatch'])
    still.move(1)
    assert.ok((await cleanUpOnce(still, 'connectionErrors')) > 0)
    await readRows(ctx.db, 'delete from authorization_codes where true', [])
    await expectCodes(still, seeded, ['code_not_exchanged'])
  })

  test('the statements use the indexes that they name', async () => {
    const now = new Date()
    const hash = Buffer.alloc(32)
    for (const query of [
      findPresented('code', hash, now),
      findPresented('refresh_token', hash, now),
      findPresented('access_token', hash, now),
      listErrorRows({ workspaceId: 'acc_1', mode: 'test', now, limit: 1 }),
    ]) {
      const plan = await readPlan(ctx.db, TABLES, query)
      assert.doesNotMatch(plan, /Seq Scan on (?!oauth_clients|users)/, query.name)
    }
    assert.match(await readPlan(ctx.db, TABLES, deleteOldErrors(now, 10)), /connection_errors_by_time/)
  })

  /** Waits until the workspace of a connection has exactly these errors, and returns them. */
  async function expectCodes(
    still: Still,
    { membership }: Pick<ConnectedClient, 'membership'>,
    codes: readonly ConnectionErrorCode[],
  ) {
    let listed = await listConnectionErrors(still, { workspaceId: membership.workspace.id, mode: 'test' })
    await waitFor(`the errors ${codes.join(', ')}`, async () => {
      listed = await listConnectionErrors(still, { workspaceId: membership.workspace.id, mode: 'test' })
      return listed.length === codes.length && codes.every((code) => listed.some((error) => error.code === code))
    })
    return listed
  }

  async function countErrors(): Promise<number> {
    return (await readRows(ctx.db, 'select code from connection_errors', [])).length
  }
})
