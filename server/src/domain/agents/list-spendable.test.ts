import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { agent, seed, seedGrant, seedWallet, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import { GATHERED_GRANTS_MAX } from './agents-store.ts'
import { createAgent } from './create-agent.ts'
import { listSpendable } from './queries.ts'

const OTHER = agent('other')

describe('listSpendable', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  const list = async ({ account, mode }: Seed, agentId: string | null = null) =>
    await listSpendable(given.context, { accountId: account.id, mode, agentId })

  /** Gives a second agent a grant on each of so many new wallets. */
  async function addGrants({ account, mode }: Seed, count: number): Promise<void> {
    await createAgent(given.context, { accountId: account.id, mode, id: OTHER, actor: OPERATOR })
    for (let index = 0; index < count; index += 1) {
      const wallet = await seedWallet(given.context, { account, mode })
      await seedGrant(given.context, { account, mode, agentId: OTHER, wallet })
    }
  }

  test('lists the grants of all agents, or of one, also beside other workspaces in one statement', async () => {
    const [first, second] = [await seed(given.context), await seed(given.context)]
    await addGrants(first, 2)
    const lists = await Promise.all([list(first), list(second), list(first, first.agentId), list(first, OTHER)])
    assert.deepEqual(
      lists.map((grants) => grants.map(({ agentId }) => agentId)),
      [[first.agentId, OTHER, OTHER], [second.agentId], [first.agentId], [OTHER, OTHER]],
    )
    assert.deepEqual(await list(first, 'nobody'), [])
  })

  test('lists all grants of a workspace that has too many for a shared statement', async () => {
    const seeded = await seed(given.context)
    await addGrants(seeded, GATHERED_GRANTS_MAX - 1)
    assert.equal((await list(seeded)).length, GATHERED_GRANTS_MAX)
    // With two more, a list that was cut at the limit would be too short.
    await addGrants(seeded, 2)
    const all = await list(seeded)
    assert.equal(new Set(all.map(({ address }) => address)).size, GATHERED_GRANTS_MAX + 2)
    assert.equal((await list(seeded, OTHER)).length, GATHERED_GRANTS_MAX + 1)
  })
})
