import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { ROTATION_GRACE_MS } from '../../server/src/domain/keys/api-key.ts'
import { revokeKey } from '../../server/src/domain/keys/revoke-key.ts'
import { rotateKey } from '../../server/src/domain/keys/rotate-key.ts'
import { createApiKeySecret } from '../../server/src/values/api-key.ts'
import { expectError, readBody, type Answer } from '../support/http-client.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'

const RATE_HEADERS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
const ROUTES = [
  ['GET', '/v1/me'],
  ['GET', '/v1/agents'],
  ['GET', '/v1/agents/a'],
  ['POST', '/v1/agents'],
  ['POST', '/v1/payments'],
  ['GET', '/v1/payments/pay_1'],
] as const

describe('credentials over HTTP', () => {
  let given: TestService
  let seeded: Seed
  before(async () => {
    given = await openTestService()
    seeded = await seed(given.context)
  })
  after(() => given.close())

  test('without a credential, every route is 401, with a challenge that contains no error (RFC 6750, section 3.1)', async () => {
    for (const [method, path] of ROUTES) {
      const answer = await given.call({ method, path, ...(method === 'POST' ? { body: {} } : {}) })
      expectUnauthenticated(answer)
      assert.equal(
        answer.headers['www-authenticate'],
        'Bearer scope="wallet:read wallet:transfer x402:pay", resource_metadata="http://localhost:4100/.well-known/oauth-protected-resource"',
      )
    }
  })

  test('a request without a credential is 401 even if its body is invalid', async () => {
    expectUnauthenticated(await given.call({ path: '/v1/agents', body: 'x'.repeat(1_000_000), type: 'text/plain' }))
  })

  test('a malformed credential is 401 with error="invalid_token"', async () => {
    const secret = seeded.key
    const typo = secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0')
    const bearers = ['', 'x', typo, secret.toUpperCase(), secret.slice(0, -1), `${secret} ${secret}`, `"${secret}"`]
    const credentials = [
      ...[...bearers, createApiKeySecret('test'), 'a'.repeat(8_192), 'svc_oat_x', 'ünïcode', '%00', '=', '🤖'].map(
        (bearer) => `Bearer ${bearer}`,
      ),
      ...[secret, `Basic ${secret}`, `Bearer${secret}`, `Token ${secret}`, `Bearer\t${secret}`, 'Bearer', ''],
    ]
    for (const credential of credentials) {
      const headers = ['authorization', Buffer.from(credential, 'utf8').toString('latin1')]
      const answer = await given.call({ path: '/v1/me', headers })
      expectUnauthenticated(answer)
      assert.match(
        answer.headers['www-authenticate'] ?? '',
        /^Bearer error="invalid_token", scope="[^"]+", resource_metadata="/,
      )
    }
  })

  test('the case of the scheme’s name and spaces around the credential are ignored', async () => {
    for (const credential of [`bearer ${seeded.key}`, `BEARER  ${seeded.key}`, `Bearer ${seeded.key} `]) {
      readBody(await given.call({ path: '/v1/me', headers: ['authorization', credential] }), 200)
    }
  })

  test('two Authorization headers are treated as none, even if they are equal', async () => {
    const header = ['authorization', `Bearer ${seeded.key}`]
    expectUnauthenticated(await given.call({ path: '/v1/me', headers: [...header, ...header] }))
  })

  test('a key in the query or the body is ignored', async () => {
    expectUnauthenticated(await given.call({ path: `/v1/me?access_token=${seeded.key}` }))
    expectUnauthenticated(await given.call({ path: '/v1/agents', body: { access_token: seeded.key, id: 'a' } }))
  })

  test('responses to a rotated key contain the end of its grace period (D34), and then it is 401; the new key has no end', async () => {
    const old = await given.issueKey(seeded)
    const { secret, graceUntil } = await rotateKey(given.context, { secret: old, actor: OPERATOR })
    const answer = await given.call({ path: '/v1/me', key: old })
    assert.equal(readBody<{ expires_at: string }>(answer, 200).expires_at, graceUntil.toISOString())
    assert.equal(answer.headers['service-rotation-grace-until'], graceUntil.toISOString())
    const fresh = await given.call({ path: '/v1/me', key: secret })
    assert.equal(fresh.headers['service-rotation-grace-until'], undefined)
    given.service.clock.setOffset(ROTATION_GRACE_MS)
    expectUnauthenticated(await given.call({ path: '/v1/me', key: old }))
    readBody(await given.call({ path: '/v1/me', key: secret }), 200)
    given.service.clock.setOffset(0)
  })

  test('a revoked key is 401 from the next request on', async () => {
    const key = await given.issueKey(seeded)
    readBody(await given.call({ path: '/v1/me', key }), 200)
    await revokeKey(given.context, { secret: key, actor: OPERATOR })
    for (let request = 0; request < 4; request += 1) expectUnauthenticated(await given.call({ path: '/v1/me', key }))
  })

  test('a response to a request with a credential is never cached', async () => {
    for (const key of [seeded.key, 'junk']) {
      assert.equal((await given.call({ path: '/v1/me', key })).headers['cache-control'], 'no-store')
    }
  })
})

function expectUnauthenticated(answer: Answer): void {
  expectError(answer, { type: 'unauthenticated' })
  for (const header of RATE_HEADERS) assert.equal(answer.headers[header], undefined)
}
