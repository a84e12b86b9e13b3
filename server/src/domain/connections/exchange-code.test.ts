import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  exchange,
  isAlive,
  issued,
  leaveWorkspace,
  listActions,
  readConnection,
  REDIRECT_URI,
  refresh,
  seedConnection,
  seedTokens,
  setRole,
  stopClock,
  type CodeExchange,
} from '../../../../test/support/context/connection-rows.ts'
import { readRows } from '../../../../test/support/database/read-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import type { Context } from '../context.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import { CODE_LIFETIME_MS } from './limits.ts'
import { registerClient } from './register-client.ts'
import { revokeConnection } from './revoke-connection.ts'

const RESOURCE = 'https://api.example'

describe('exchangeCode', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('a code is exchanged for an access token and a refresh token with the granted scopes', async () => {
    const scopes = ['wallet:read', 'x402:pay'] as const
    const { tokens, membership } = await seedTokens(ctx, { scopes })
    assert.match(tokens.accessToken, /^svc_oat_[0-9A-Za-z]{49}$/)
    assert.match(tokens.refreshToken, /^svc_ort_[0-9A-Za-z]{49}$/)
    assert.deepEqual(tokens.scopes, scopes)
    assert.equal(tokens.expiresInSeconds, 3_600)
    assert.ok(await isAlive(ctx, tokens.accessToken))
    assert.equal((await readConnection(ctx, { membership })).currentRefreshTokens, 1)
  })

  test('a second use of a code revokes everything issued from the first, including refreshed tokens', async () => {
    const seeded = await seedTokens(ctx)
    const second = issued(await refresh(ctx, seeded, seeded.tokens.refreshToken))
    await checkRefused(exchange(ctx, seeded), 'invalid_grant')
    for (const { accessToken, refreshToken } of [seeded.tokens, second]) {
      assert.equal(await isAlive(ctx, accessToken), false)
      await checkRefused(refresh(ctx, seeded, refreshToken), 'invalid_grant')
    }
    assert.equal((await readConnection(ctx, seeded)).revokedBecause, 'code_replay')
    await checkRefused(exchange(ctx, seeded), 'invalid_grant')
    assert.deepEqual(await listActions(ctx, seeded.membership.workspace.id), [
      'connection.approved',
      'connection.code_replayed',
    ])
  })

  test('a second use is still recognized after the code has expired', async () => {
    const still = stopClock(ctx)
    const seeded = await seedTokens(still)
    still.move(CODE_LIFETIME_MS * 10)
    await checkRefused(exchange(still, seeded), 'invalid_grant')
    assert.equal(await isAlive(still, seeded.tokens.accessToken), false)
  })

  const wrongs: readonly (readonly [string, Partial<CodeExchange>])[] = [
    ['a wrong verifier', { codeVerifier: 'a'.repeat(43) }],
    ['a verifier that is too short', { codeVerifier: 'a'.repeat(42) }],
    ['a verifier that is too long', { codeVerifier: 'a'.repeat(129) }],
    ['a verifier with characters of no verifier', { codeVerifier: `${'a'.repeat(42)}+` }],
    ['no verifier at all', { codeVerifier: '' }],
    ['another redirect URI', { redirectUri: `${REDIRECT_URI}/` }],
    ['a client that nobody knows', { clientId: 'svc_client_none' }],
  ]
  for (const [what, change] of wrongs) {
    test(`a second use with ${what} revokes nothing`, async () => {
      const seeded = await seedTokens(ctx)
      for (let time = 0; time < 6; time += 1) await checkRefused(exchange(ctx, seeded, change), 'invalid_grant')
      assert.ok(await isAlive(ctx, seeded.tokens.accessToken))
      issued(await refresh(ctx, seeded, seeded.tokens.refreshToken))
    })

    test(`a first use with ${what} does not use the code up`, async () => {
      const seeded = await seedConnection(ctx)
      for (let time = 0; time < 4; time += 1) await checkRefused(exchange(ctx, seeded, change), 'invalid_grant')
      issued(await exchange(ctx, seeded))
    })

    test(`the fifth use with ${what} ends the code, and revokes nothing`, async () => {
      const seeded = await seedConnection(ctx)
      for (let time = 0; time < 5; time += 1) await checkRefused(exchange(ctx, seeded, change), 'invalid_grant')
      await checkRefused(exchange(ctx, seeded), 'invalid_grant')
      assert.deepEqual(await listActions(ctx, seeded.membership.workspace.id), ['connection.approved'])
    })
  }

  test('the challenge itself is not accepted as the verifier', async () => {
    const seeded = await seedConnection(ctx)
    const [row] = await readRows(ctx.db, 'select code_challenge from authorization_codes where workspace_id = $1', [
      seeded.membership.workspace.id,
    ])
    await checkRefused(exchange(ctx, seeded, { codeVerifier: row?.['code_challenge'] }), 'invalid_grant')
  })

  test('a code works for exactly 60 seconds', async () => {
    const still = stopClock(ctx)
    const [early, late] = [await seedConnection(still), await seedConnection(still)]
    still.move(CODE_LIFETIME_MS - 1)
    issued(await exchange(still, early))
    still.move(1)
    await checkRefused(exchange(still, late), 'invalid_grant')
    assert.equal((await readConnection(still, late)).revokedBecause, null)
  })

  test('another client cannot use a code, and its attempt leaves the code usable', async () => {
    const seeded = await seedConnection(ctx)
    const other = await registerClient(ctx, { name: 'Other', redirectUris: [REDIRECT_URI], scopes: ['wallet:read'] })
    await checkRefused(exchange(ctx, seeded, { clientId: other.id }), 'invalid_grant')
    issued(await exchange(ctx, seeded))
    await checkRefused(exchange(ctx, seeded, { clientId: other.id }), 'invalid_grant')
    assert.equal((await readConnection(ctx, seeded)).revokedBecause, null)
  })

  test('the redirect URI must be the one of the request, port included, not another registered one', async () => {
    const registered = ['http://127.0.0.1/callback', 'https://client.example/other']
    const client = await registerClient(ctx, { name: 'Loopback', redirectUris: registered, scopes: ['wallet:read'] })
    const seeded = await seedConnection(ctx, { client, redirectUri: 'http://127.0.0.1:33418/callback' })
    for (const redirectUri of [...registered, 'http://127.0.0.1:33419/callback', '']) {
      await checkRefused(exchange(ctx, seeded, { redirectUri }), 'invalid_grant')
    }
    issued(await exchange(ctx, seeded))
  })

  test('a resource other than the authorized one is invalid_target, and the code stays usable', async () => {
    const seeded = await seedConnection(ctx, { resource: RESOURCE })
    for (let time = 0; time < 6; time += 1) {
      await checkRefused(exchange(ctx, seeded, { resource: `${RESOURCE}/mcp` }), 'invalid_target')
    }
    issued(await exchange(ctx, seeded, { resource: RESOURCE }))
  })

  test('a missing resource means the authorized one; if none was authorized, each resource of the service is accepted', async () => {
    issued(await exchange(ctx, await seedConnection(ctx, { resource: RESOURCE })))
    issued(await exchange(ctx, await seedConnection(ctx), { resource: RESOURCE }))
  })

  test('a caller who cannot prove that it is the client does not learn that the resource is wrong', async () => {
    const seeded = await seedConnection(ctx, { resource: RESOURCE })
    const change = { resource: 'https://other.example', codeVerifier: 'a'.repeat(43) }
    await checkRefused(exchange(ctx, seeded, change), 'invalid_grant')
  })

  test('a code does not work if the user has left the workspace or may no longer connect applications', async () => {
    const [left, demoted] = [await seedConnection(ctx), await seedConnection(ctx)]
    await leaveWorkspace(ctx, left.membership)
    await setRole(ctx, demoted.membership, 'viewer')
    for (const seeded of [left, demoted]) await checkRefused(exchange(ctx, seeded), 'invalid_grant')
    await setRole(ctx, demoted.membership, 'admin')
    issued(await exchange(ctx, demoted))
  })

  test('a connection that was revoked before its code was exchanged stays revoked', async () => {
    const seeded = await seedConnection(ctx)
    const { workspace } = seeded.membership
    const { id } = await readConnection(ctx, seeded)
    await revokeConnection(ctx, { workspaceId: workspace.id, id, actor: OPERATOR })
    await checkRefused(exchange(ctx, seeded), 'invalid_grant')
    assert.equal((await readConnection(ctx, seeded)).currentRefreshTokens, 0)
  })

  test('if issuing tokens fails, the code can be used again', async () => {
    const seeded = await seedConnection(ctx)
    await readRows(ctx.db, 'alter table refresh_tokens add constraint test_full check (false) not valid')
    try {
      await assert.rejects(exchange(ctx, seeded), /test_full/)
    } finally {
      await readRows(ctx.db, 'alter table refresh_tokens drop constraint test_full')
    }
    const tokens = issued(await exchange(ctx, seeded))
    assert.ok(await isAlive(ctx, tokens.accessToken))
  })

  test('a malformed or unknown code gets the same response as a used one', async () => {
    const seeded = await seedTokens(ctx)
    const unknown = (await seedConnection(ctx)).code
    await readRows(ctx.db, 'delete from authorization_codes where taken_at is null')
    const answers = []
    for (const code of ['', 'svc_oac_', seeded.tokens.refreshToken, unknown, seeded.code]) {
      answers.push(await exchange(ctx, seeded, { code }))
    }
    for (const answer of answers) assert.deepEqual(answer, answers[0])
  })

  async function checkRefused(answer: ReturnType<typeof exchange>, error: string): Promise<void> {
    const refused = await answer
    assert.ok(refused.kind === 'refused', 'tokens were issued')
    assert.equal(refused.error, error)
    assert.match(refused.description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]{20,}$/)
  }
})
