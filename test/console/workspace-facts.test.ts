import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import type { PlanUse, WorkspaceDetail } from '../../server/src/console/contract/workspaces.ts'
import { changePlan } from '../../server/src/domain/workspaces/change-plan.ts'
import { createAgent } from '../../server/src/domain/agents/create-agent.ts'
import { nextMonthOf } from '../../server/src/domain/plans/plan.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { readRows } from '../support/database/read-rows.ts'
import { agent, seedWallet } from '../support/context/seed.ts'
import { openConsoleFixture, type ConsoleFixture } from './console-fixture.ts'

describe('the facts of a workspace in the dashboard', () => {
  let server: ConsoleServer
  let fixture: ConsoleFixture
  before(async () => {
    server = await openConsoleServer()
  })
  beforeEach(async () => {
    fixture = await openConsoleFixture(server, { role: 'viewer' })
  })
  after(() => server.close())

  test("show its plan, the person's role, its chains and the address of the API", async () => {
    const { slug, name } = fixture.workspace
    const { test: testChain, live } = server.config.chains
    assert.deepEqual(await readWorkspace(), {
      ...{ slug, name, role: 'viewer', plan: 'developer', base_url: server.config.baseUrl },
      chains: {
        test: {
          ...{ chain_id: 84532, usdc: testChain.usdc, explorer_url: 'https://sepolia.basescan.org' },
          faucet: { kind: 'site', url: 'https://faucet.circle.com' },
        },
        live: { chain_id: 8453, usdc: live.usdc, explorer_url: 'https://basescan.org', faucet: null },
      },
    })
  })

  test('show only that there is a faucet, and only in test mode', async () => {
    const faucet = { kind: 'endpoint', url: 'https://secret.example/faucet' } as const
    const other = await openConsoleServer((config) => {
      const { test: testChain, live } = config.chains
      return { ...config, faucet, chains: { test: { ...testChain, explorerUrl: null }, live } }
    })
    const there = await openConsoleFixture(other)
    const { chains } = await readWorkspace(there)
    await other.close()
    assert.deepEqual([chains.test.faucet, chains.live.faucet], [{ kind: 'endpoint' }, null])
    assert.deepEqual([chains.test.explorer_url, chains.live.explorer_url], [null, 'https://basescan.org'])
  })

  test('show what is used of its plan: live payments of this month, agents and wallets of each mode', async () => {
    const { workspace } = fixture
    const before = await readUse()
    const none = { used: 0, limit: 100 }
    const noWallets = { used: 0, limit: 3 }
    const empty = { used: 0, limit: 16_777_216 }
    const unused = { test: empty, live: empty }
    const small = { webhook_responses: unused, refusals: unused }
    const resetsAt = nextMonthOf(server.clock.now()).toISOString()
    assert.deepEqual(before, {
      plan: 'developer',
      allowance: { used: 0, limit: 1_000, resets_at: resetsAt },
      agents: { test: none, live: none },
      wallets: { test: noWallets, live: noWallets },
      responses: { test: { used: 0, limit: 134_217_728 }, live: { used: 0, limit: 536_870_912 } },
      ...small,
    })
    for (const id of ['a', 'b', 'gone']) {
      await createAgent(server.context, { workspaceId: workspace.id, mode: 'test', id: agent(id), actor: OPERATOR })
    }
    await createAgent(server.context, { workspaceId: workspace.id, mode: 'live', id: agent('a'), actor: OPERATOR })
    await readRows(
      server.context.db,
      `update agents set deleted_at = created_at where workspace_id = $1 and id = 'gone'`,
      [workspace.id],
    )
    await seedWallet(server.context, { workspace, mode: 'live' })
    await seedWallet(server.context, { workspace: (await openConsoleFixture(server)).workspace, mode: 'live' })
    await readRows(server.context.db, `insert into allowances values ($1, '2020-01-01', 7)`, [workspace.id])
    await changePlan(server.context, { workspace, plan: 'pro', allowanceUsed: 41, actor: OPERATOR })
    assert.deepEqual(await readUse(), {
      plan: 'pro',
      allowance: { used: 41, limit: 50_000, resets_at: resetsAt },
      agents: { test: { used: 2, limit: 10_000 }, live: { used: 1, limit: 10_000 } },
      wallets: { test: { used: 0, limit: 100 }, live: { used: 1, limit: 100 } },
      responses: { test: { used: 0, limit: 536_870_912 }, live: { used: 0, limit: 4_294_967_296 } },
      ...small,
    })
    await changePlan(server.context, { workspace, plan: 'scale', actor: OPERATOR })
    const { allowance, agents, wallets } = await readUse()
    assert.deepEqual([allowance.limit, agents.test.limit, wallets.live.limit], [null, null, null])
  })

  async function readWorkspace(from: ConsoleFixture = fixture): Promise<WorkspaceDetail> {
    return (await from.browser.ask<{ workspace: WorkspaceDetail }>('GET', from.at(''))).workspace
  }

  async function readUse(): Promise<PlanUse> {
    return (await fixture.browser.ask<{ use: PlanUse }>('GET', fixture.at('plan'))).use
  }
})
