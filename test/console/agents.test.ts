import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { OPERATOR } from '../../server/src/domain/audit/audit-entry.ts'
import { createAgent } from '../../server/src/domain/agents/create-agent.ts'
import { markGrantRevoked } from '../../server/src/domain/grants/grants-store.ts'
import { suspendGrant } from '../../server/src/domain/grants/suspend-grant.ts'
import { createPayment } from '../../server/src/domain/payment-requests/create-payment.ts'
import { addMember } from '../../server/src/domain/members/add-member.ts'
import { readAudit } from '../support/context/audit.ts'
import { isAlive, seedTokens } from '../support/context/connection-rows.ts'
import { openConsoleServer, type ConsoleServer } from '../support/service/console-server.ts'
import { expectError } from '../support/http-client.ts'
import { agent as agentId, paymentRequest, seed, seedGrant, seedWallet, type Seed } from '../support/context/seed.ts'
import { openVisitor, type Visitor } from './person.ts'

const NO_AGENT = { type: 'not_found', code: 'agent_not_found' } as const

interface WireAgent {
  readonly id: string
  readonly created_at: string
  readonly state: string
  readonly status: string
  readonly active_signers: number
  readonly wallets: readonly { readonly address: string }[]
}

/** The dashboard's endpoints for agents, and when an agent can be deleted (D9, D11). */
describe('agents in the dashboard', () => {
  let server: ConsoleServer
  let owner: Visitor
  let seeded: Seed
  before(async () => {
    server = await openConsoleServer()
  })
  beforeEach(async () => {
    owner = await openVisitor(server)
    seeded = await seed(server.context, { maxPerTx: '10', dailyCap: '25.5' })
    await addMember(server.context, {
      workspace: seeded.workspace,
      userId: owner.userId,
      role: 'owner',
      actor: OPERATOR,
    })
  })
  after(() => server.close())

  test('are listed and shown with the amounts that they may spend today', async () => {
    await createPayment(server.context, paymentRequest(seeded, { amountUsdc: '2.25' }))
    const wallet = {
      address: seeded.wallet,
      max_per_tx_usdc: '10',
      daily_cap_usdc: '25.5',
      spent_24h_usdc: '2.25',
      remaining_24h_usdc: '23.25',
      expires_at: null,
    }
    const { agents } = await owner.browser.ask<{ agents: WireAgent[] }>('GET', `${at('agents')}?mode=test`)
    const whole = {
      id: seeded.agentId,
      mode: 'test',
      status: 'active',
      created_at: agents[0]?.created_at,
      active_signers: 1,
      pending_signers: 0,
      wallets: [wallet],
      state: 'active',
      label: null,
    }
    assert.equal(new Date(String(agents[0]?.created_at)).toISOString(), agents[0]?.created_at)
    assert.deepEqual(agents, [whole])
    assert.deepEqual(await owner.browser.ask('GET', oneAt(seeded.agentId)), { agent: whole })
    assert.deepEqual(await owner.browser.ask('GET', `${at('agents')}?mode=live`), { agents: [] })
  })

  test('a new agent may spend nothing, and is created once, however often it is requested', async () => {
    const made: { agent: WireAgent }[] = []
    for (let time = 0; time < 2; time += 1) {
      made.push(await owner.browser.ask('POST', at('agents'), { mode: 'live', id: 'ko\u0308der 1' }, 201))
    }
    const [first, second] = made
    assert.deepEqual(first?.agent, {
      id: 'köder 1',
      mode: 'live',
      status: 'no_permissions',
      created_at: first?.agent.created_at,
      active_signers: 0,
      pending_signers: 0,
      wallets: [],
      state: 'no_grant',
      label: null,
    })
    assert.deepEqual(second, first)
    assert.deepEqual(await owner.browser.ask('GET', `${at('agents')}?mode=live`), { agents: [first?.agent] })
  })

  test('an agent is active only while it can pay: not while its grants are suspended or expired', async () => {
    const { context } = server
    const { workspace, grant, wallet } = seeded
    const expiresAt = new Date(context.clock.now().getTime() - 1_000)
    const late = agentId('late')
    await createAgent(context, { workspaceId: workspace.id, mode: 'test', id: late, actor: OPERATOR })
    await seedGrant(context, { ...seeded, agentId: late }, { expiresAt })
    await suspendGrant(context, { workspaceId: workspace.id, grantId: grant.id, actor: OPERATOR })
    const states = async () => {
      const { agents } = await owner.browser.ask<{ agents: WireAgent[] }>('GET', `${at('agents')}?mode=test`)
      return agents.map(({ state, status, active_signers, wallets }) => [state, status, active_signers, wallets.length])
    }
    assert.deepEqual(await states(), [
      ['suspended', 'active', 1, 0],
      ['expired', 'active', 1, 0],
    ])
    const other = await seedWallet(context, seeded)
    await seedGrant(context, { ...seeded, wallet: other })
    const { agent } = await owner.browser.ask<{ agent: WireAgent }>('GET', oneAt(seeded.agentId))
    assert.deepEqual([agent.state, agent.active_signers], ['active', 2])
    assert.deepEqual(
      agent.wallets.map(({ address }) => address),
      [other],
    )
    assert.notEqual(other, wallet)
  })

  test('an agent is found by an id with any allowed characters', async () => {
    for (const id of ['a/b', '100%', 'köder ?#&', 'x'.repeat(64), '字'.repeat(64)]) {
      await owner.browser.ask('POST', at('agents'), { mode: 'test', id }, 201)
      const { agent } = await owner.browser.ask<{ agent: WireAgent }>('GET', oneAt(id))
      assert.equal(agent.id, id)
      assert.deepEqual(await owner.browser.ask('DELETE', oneAt(id)), {})
    }
  })

  test('an agent with grants cannot be deleted, and the error names the grants', async () => {
    const answered = await owner.browser.call('DELETE', oneAt(seeded.agentId))
    const { details } = expectError(answered, { type: 'conflict', code: 'has_active_grants' })
    assert.deepEqual(details, { grants: [{ id: seeded.grant.id, wallet: seeded.wallet, status: 'active' }] })
    assert.equal((await owner.browser.ask<{ agent: WireAgent }>('GET', oneAt(seeded.agentId))).agent.id, seeded.agentId)
  })

  test('an agent without grants is deleted with its connections, and can be created again', async () => {
    await revoke()
    const { tokens } = await seedTokens(server.context, { workspace: seeded.workspace, agentId: seeded.agentId })
    const before = await owner.browser.ask<{ agent: WireAgent }>('GET', oneAt(seeded.agentId))
    assert.deepEqual(await owner.browser.ask('DELETE', oneAt(seeded.agentId)), {})
    for (const method of ['GET', 'DELETE']) await owner.browser.refuse(method, oneAt(seeded.agentId), NO_AGENT)
    assert.deepEqual(await owner.browser.ask('GET', `${at('agents')}?mode=test`), { agents: [] })
    assert.deepEqual(await owner.browser.ask('GET', at('connections')), { connections: [] })
    assert.equal(await isAlive(server.context, tokens.accessToken), false)
    const rows = await readAudit(server.context.db, seeded.workspace.id)
    const deleted = rows.filter((row) => ['agent.deleted', 'connection.revoked'].includes(String(row['action'])))
    assert.deepEqual(
      deleted.map((row) => [row['actor_kind'], row['actor_id']]),
      [
        ['user', owner.userId],
        ['user', owner.userId],
      ],
    )
    const again = { mode: 'test', id: seeded.agentId }
    const { agent } = await owner.browser.ask<{ agent: WireAgent }>('POST', at('agents'), again, 201)
    assert.notEqual(agent.created_at, before.agent.created_at)
    assert.deepEqual(await owner.browser.ask('GET', at('connections')), { connections: [] })
    assert.equal(await isAlive(server.context, tokens.accessToken), false)
  })

  test('an agent of the other mode or another workspace, or with an id that is not allowed, is not found', async () => {
    await revoke()
    const other = await seed(server.context)
    const odd = [other.agentId, 'x'.repeat(65), '%00', '%E2%80%AE', '%20']
    for (const path of [
      `${at(`agents/${seeded.agentId}`)}?mode=live`,
      ...odd.map((id) => `${at(`agents/${id}`)}?mode=test`),
    ]) {
      for (const method of ['GET', 'DELETE']) await owner.browser.refuse(method, path, NO_AGENT)
    }
    assert.equal((await owner.browser.ask<{ agents: [] }>('GET', `${at('agents')}?mode=test`)).agents.length, 1)
  })

  test('mode is required', async () => {
    for (const method of ['GET', 'DELETE']) {
      const answered = await owner.browser.call(method, at(`agents/${seeded.agentId}`))
      const { details } = expectError(answered, { type: 'validation_failed' })
      assert.equal((details as { path: string }[])[0]?.path, 'mode')
    }
  })

  function at(path: string): string {
    return `/console/workspaces/${seeded.workspace.slug}/${path}`
  }

  function oneAt(id: string): string {
    return `${at(`agents/${encodeURIComponent(id)}`)}?mode=test`
  }

  async function revoke(): Promise<void> {
    const { db, clock } = server.context
    await db.write(markGrantRevoked(seeded.workspace.id, seeded.grant.id, clock.now()))
  }
})
