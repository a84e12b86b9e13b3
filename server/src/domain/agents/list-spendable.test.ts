import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { agent, seed, seedGrant, seedManyGrants, seedWallet, type Seed } from '../../../../test/support/context/seed.ts'
import { openTestContext, type TestContext } from '../../../../test/support/context/test-context.ts'
import { OPERATOR } from '../audit/audit-entry.ts'
import type { SpendableGrant } from './agent.ts'
import { GATHERED_GRANTS_MAX, SPENDABLE_PAGE_MAX } from './agents-store.ts'
import { createAgent } from './create-agent.ts'
import { listSpendable, walkSpendable } from './queries.ts'

const OTHER = agent('other')

describe('listSpendable', () => {
  let given: TestContext
  before(async () => {
    given = await openTestContext()
  })
  after(() => given.close())

  const list = async ({ workspace, mode }: Seed, agentId: string | null = null) =>
    await listSpendable(given.context, { workspaceId: workspace.id, mode, agentId })

  const sizesOf = (pages: readonly (readonly unknown[])[]): number[] => pages.map(({ length }) => length)

  const walk = async ({ workspace, mode }: Seed): Promise<SpendableGrant[][]> => {
    const pages: SpendableGrant[][] = []
    for await (const page of walkSpendable(given.context, { workspaceId: workspace.id, mode })) pages.push([...page])
    return pages
  }

  /** Gives a second agent a grant on each of `count` new wallets. */
  async function addGrants({ workspace, mode }: Seed, count: number): Promise<void> {
    await createAgent(given.context, { workspaceId: workspace.id, mode, id: OTHER, actor: OPERATOR })
    for (let index = 0; index < count; index += 1) {
      const wallet = await seedWallet(given.context, { workspace, mode })
      await seedGrant(given.context, { workspace, mode, agentId: OTHER, wallet })
    }
  }

  test('lists the grants of all agents, or of one, also beside other workspaces in one statement', async () => {
    const [first, second] = [await seed(given.context), await seed(given.context)]
    await addGrants(first, 2)
    const lists = await Promise.all([list(first), list(second), list(first, first.agentId), list(first, OTHER)])
    assert.deepEqual(
      lists.map((grants) => grants?.map(({ agentId }) => agentId)),
      [[first.agentId, OTHER, OTHER], [second.agentId], [first.agentId], [OTHER, OTHER]],
    )
    assert.deepEqual(await list(first, 'nobody'), [])
  })

  test('does not list a workspace that has too many grants for a shared statement, except for one agent', async () => {
    const seeded = await seed(given.context)
    await seedManyGrants(given.context, seeded, GATHERED_GRANTS_MAX - 1)
    assert.equal((await list(seeded))?.length, GATHERED_GRANTS_MAX)
    await addGrants(seeded, 1)
    assert.equal(await list(seeded), null)
    assert.equal((await list(seeded, seeded.agentId))?.length, GATHERED_GRANTS_MAX)
    assert.equal((await list(seeded, OTHER))?.length, 1)
  })

  test('walkSpendable lists every grant of all agents once, in pages', async () => {
    const [seeded, other] = [await seed(given.context), await seed(given.context)]
    await seedManyGrants(given.context, seeded, 2 * SPENDABLE_PAGE_MAX - 1)
    assert.deepEqual(sizesOf(await walk(seeded)), [SPENDABLE_PAGE_MAX, SPENDABLE_PAGE_MAX, 0])
    await addGrants(seeded, 1)
    const pages = await walk(seeded)
    assert.deepEqual(sizesOf(pages), [SPENDABLE_PAGE_MAX, SPENDABLE_PAGE_MAX, 1])
    const found = new Set(pages.flat().map(({ agentId, address }) => `${agentId} ${address}`))
    assert.equal(found.size, 2 * SPENDABLE_PAGE_MAX + 1)
    assert.equal(found.has(`${other.agentId} ${other.wallet}`), false)
  })
})
