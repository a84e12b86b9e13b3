import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  isAlive,
  issued,
  listActions,
  readConnection,
  refresh,
  seedTokens,
  stopClock,
  type ConnectedClient,
} from '../../../../test/support/context/connection-rows.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { createSecret, SECRET_PREFIXES } from '../../values/secret.ts'
import type { Context } from '../context.ts'
import { REFRESH_TOKEN_LIFETIME_MS } from './limits.ts'
import { registerClient } from './register-client.ts'
import { revokeToken } from './revoke-token.ts'

describe('revokeToken', () => {
  let given: TestContext
  let ctx: Context
  before(async () => {
    given = await openTestContext()
    ctx = given.context
  })
  after(() => given.close())

  test('revoking an unknown, malformed or already revoked token is not an error', async () => {
    const seeded = await seedTokens(ctx)
    const unknown = [createSecret(SECRET_PREFIXES.accessToken), createSecret(SECRET_PREFIXES.refreshToken)]
    for (const token of ['', 'svc_oat_', seeded.code, 'x'.repeat(8_192), ...unknown]) {
      await revokeToken(ctx, { token, clientId: seeded.client.id })
    }
    assert.ok(await isAlive(ctx, seeded.tokens.accessToken))
    for (let time = 0; time < 3; time += 1) {
      await revokeToken(ctx, { token: seeded.tokens.accessToken, clientId: seeded.client.id })
    }
    assert.deepEqual(await listActions(ctx, seeded.membership.workspace.id), [
      'connection.approved',
      'connection.revoked',
    ])
  })

  test('revoking an expired token is not an error', async () => {
    const still = stopClock(ctx)
    const seeded = await seedTokens(still)
    still.move(REFRESH_TOKEN_LIFETIME_MS)
    for (const token of [seeded.tokens.accessToken, seeded.tokens.refreshToken]) {
      await revokeToken(still, { token, clientId: null })
    }
  })

  test("revoking another client's token is not an error and has no effect", async () => {
    const seeded = await seedTokens(ctx)
    const other = await registerClient(ctx, {
      name: 'O',
      redirectUris: ['https://o.example/'],
      scopes: ['wallet:read'],
    })
    for (const token of [seeded.tokens.accessToken, seeded.tokens.refreshToken]) {
      await revokeToken(ctx, { token, clientId: other.id })
    }
    assert.ok(await isAlive(ctx, seeded.tokens.accessToken))
    issued(await refresh(ctx, seeded, seeded.tokens.refreshToken))
  })

  const kinds: readonly (readonly [string, (seeded: ConnectedClient) => string])[] = [
    ['access token', ({ tokens }) => tokens.accessToken],
    ['refresh token', ({ tokens }) => tokens.refreshToken],
  ]
  for (const [kind, tokenOf] of kinds) {
    for (const rotated of [false, true]) {
      test(`${rotated ? 'an old' : 'the current'} ${kind} revokes the whole connection`, async () => {
        const other = given.openAnother()
        const seeded = await seedTokens(ctx)
        const all = [seeded.tokens]
        if (rotated) all.push(issued(await refresh(ctx, seeded, seeded.tokens.refreshToken)))
        for (const { accessToken } of all) assert.ok(await isAlive(other, accessToken))
        await revokeToken(ctx, { token: tokenOf(seeded), clientId: seeded.client.id })
        for (const { accessToken, refreshToken } of all) {
          assert.equal(await isAlive(ctx, accessToken), false)
          assert.equal(await isAlive(other, accessToken), false)
          assert.equal((await refresh(ctx, seeded, refreshToken)).kind, 'refused')
        }
        assert.equal((await readConnection(ctx, seeded)).revokedBecause, 'client')
      })
    }
  }

  test('another connection of the same client and user keeps working', async () => {
    const seeded = await seedTokens(ctx)
    const { membership, client, agentId } = seeded
    const other = await seedTokens(ctx, { membership, client, agentId })
    await revokeToken(ctx, { token: seeded.tokens.refreshToken, clientId: client.id })
    assert.ok(await isAlive(ctx, other.tokens.accessToken))
  })

  test('without a client id, the token is enough to revoke its connection', async () => {
    const seeded = await seedTokens(ctx)
    await revokeToken(ctx, { token: seeded.tokens.refreshToken, clientId: null })
    assert.equal(await isAlive(ctx, seeded.tokens.accessToken), false)
  })
})
