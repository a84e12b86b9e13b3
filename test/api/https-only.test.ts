import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Config } from '../../server/src/config.ts'
import { expectError, type Answer } from '../support/http-client.ts'
import { seed, type Seed } from '../support/context/seed.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'

const HSTS = 'max-age=63072000; includeSubDomains'

/**
 * A request over plain HTTP is rejected, never redirected, because its credential has already been sent unencrypted
 * (D3).
 */
describe('HTTPS only, in production', () => {
  let proxied: TestService
  let direct: TestService
  let seeds: readonly [Seed, Seed]
  before(async () => {
    const [mine, others] = [['127.0.0.1'], ['10.0.0.1']].map((trustedProxies) => (config: Config) => ({
      ...config,
      production: true,
      trustedProxies: trustedProxies ?? [],
    }))
    proxied = await openTestService(mine)
    direct = await openTestService(others)
    seeds = [await seed(proxied.context), await seed(direct.context)]
  })
  after(async () => {
    await proxied.close()
    await direct.close()
  })

  test('a request over plain HTTP is 403 https_required, is never redirected, and its credential is not checked', async () => {
    for (const key of [seeds[0].key, 'junk']) {
      const answer = await proxied.call({ path: '/v1/me', key })
      expectError(answer, { type: 'forbidden', code: 'https_required' })
      assert.equal(answer.headers.location, undefined)
      assert.equal(answer.headers['strict-transport-security'], HSTS)
      assert.equal(answer.headers['x-ratelimit-limit'], undefined)
    }
  })

  test('an unknown path and a request with a body are 403 over plain HTTP too', async () => {
    for (const call of [{ path: '/nowhere' }, { path: '/v1/agents', body: { id: 'a' }, key: seeds[0].key }]) {
      expectError(await proxied.call(call), { type: 'forbidden', code: 'https_required' })
    }
  })

  test('a request that a trusted proxy received over HTTPS is served, with HSTS', async () => {
    const answer = await ask(proxied, seeds[0], 'https')
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['strict-transport-security'], HSTS)
    expectError(await ask(proxied, seeds[0], 'http'), { type: 'forbidden', code: 'https_required' })
  })

  test('X-Forwarded-Proto from any other address is ignored', async () => {
    expectError(await ask(direct, seeds[1], 'https'), { type: 'forbidden', code: 'https_required' })
  })

  test('load balancers can check the health over plain HTTP', async () => {
    for (const path of ['/healthz', '/readyz']) assert.equal((await direct.call({ path })).status, 200)
  })

  function ask(service: TestService, { key }: Seed, protocol: string): Promise<Answer> {
    return service.call({ path: '/v1/me', key, headers: ['x-forwarded-proto', protocol, 'x-forwarded-for', '8.8.8.8'] })
  }
})
