import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { SPENDABLE_PAGE_MAX } from '../../server/src/domain/agents/agents-store.ts'
import { seed, seedManyGrants, type Seed } from '../support/context/seed.ts'
import { readBody } from '../support/http-client.ts'
import { openTestService, type TestService } from '../support/service/test-service.ts'

interface WireIdentity {
  readonly auth_type: string
  readonly wallets: readonly { readonly address: string; readonly agent_id?: string; readonly daily_cap_usdc: string }[]
}

describe('GET /v1/me of a workspace with thousands of grants', () => {
  const MORE_GRANTS = 2 * SPENDABLE_PAGE_MAX + 50
  let given: TestService
  let seeded: Seed
  before(async () => {
    given = await openTestService()
    seeded = await seed(given.context)
    await seedManyGrants(given.context, seeded, MORE_GRANTS)
  })
  after(() => given.close())

  test('lists each grant once', async () => {
    const { auth_type: authType, wallets } = readBody<WireIdentity>(
      await given.call({ path: '/v1/me', key: seeded.key }),
      200,
    )
    assert.equal(authType, 'api_key')
    assert.equal(new Set(wallets.map(({ address }) => address)).size, MORE_GRANTS + 1)
    assert.equal(wallets.length, MORE_GRANTS + 1)
    for (const wallet of wallets) {
      assert.equal(wallet.agent_id, seeded.agentId)
      assert.equal(wallet.daily_cap_usdc, '100')
    }
  })

  test('has the headers of every response', async () => {
    const { headers } = await given.call({ path: '/v1/me', key: seeded.key })
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(headers['cache-control'], 'no-store')
    assert.ok(headers['x-ratelimit-remaining'])
  })

  test('responds to HEAD without the list', async () => {
    const { status, text } = await given.call({ method: 'HEAD', path: '/v1/me', key: seeded.key })
    assert.deepEqual({ status, text }, { status: 200, text: '' })
  })
})
