import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Agent } from '@bursar/server/src/console/contract/agents.ts'
import type { Role } from '@bursar/server/src/console/contract/fields.ts'
import { chooseAgent, chooseWorkspace, findApprovalBlocker, formatWorkspaceName } from './choose-agent.ts'

const agents: readonly Agent[] = ['alpha', 'beta'].map((id) => ({
  id,
  mode: 'test',
  status: 'active',
  created_at: '2026-01-01T00:00:00.000Z',
  active_signers: 1,
  pending_signers: 0,
  wallets: [],
  state: 'active',
  label: null,
}))

describe('chooseWorkspace', () => {
  const cases: readonly { name: string; roles: readonly Role[]; chosen: number | undefined }[] = [
    { name: 'the first in which the user may approve', roles: ['viewer', 'admin', 'owner'], chosen: 1 },
    { name: 'the first, if the user may approve there', roles: ['owner', 'admin'], chosen: 0 },
    { name: 'the first, if the user may approve in none', roles: ['viewer', 'viewer'], chosen: 0 },
    { name: 'none if there are none', roles: [], chosen: undefined },
  ]
  for (const { name, roles, chosen } of cases) {
    test(name, () => {
      const workspaces = roles.map((role, index) => ({ slug: `w${index}`, name: 'W', role }))
      assert.equal(chooseWorkspace(workspaces)?.slug, chosen === undefined ? undefined : `w${chosen}`)
    })
  }
})

describe('chooseWorkspace with hints', () => {
  const workspaces = (['viewer', 'owner', 'admin', 'owner'] as const).map((role, index) => ({
    slug: `w${index}`,
    name: 'W',
    role,
  }))
  const cases = [
    { name: 'the last opened one', lastSlug: 'w3', agents: ['w2'], chosen: 'w3' },
    { name: 'not the last opened one if the user may not approve there', lastSlug: 'w0', agents: ['w2'], chosen: 'w2' },
    { name: 'not the last opened one if the user is no longer a member', lastSlug: 'gone', agents: [], chosen: 'w1' },
    { name: 'the first with an agent', lastSlug: null, agents: ['w0', 'w2', 'w3'], chosen: 'w2' },
  ] as const
  for (const { name, lastSlug, agents: slugs, chosen } of cases) {
    test(name, () => {
      const hints = { lastSlug, withAgents: new Set<string>(slugs) }
      assert.equal(chooseWorkspace(workspaces, hints)?.slug, chosen)
    })
  }
})

test('workspaces with the same name show their slugs', () => {
  const workspaces = ['Acme', 'acme ', 'Zen'].map((name, index) => ({
    slug: `w${index}`,
    name,
    role: 'owner' as const,
  }))
  const names = workspaces.map((workspace) => formatWorkspaceName(workspaces, workspace))
  assert.deepEqual(names, ['Acme · w0', 'acme  · w1', 'Zen'])
})

describe('chooseAgent', () => {
  const cases = [
    { name: 'the first by default', pickedId: null, requestedId: null, agents, chosen: 'alpha' },
    { name: 'the requested one', pickedId: null, requestedId: 'beta', agents, chosen: 'beta' },
    { name: 'the picked one over the requested one', pickedId: 'alpha', requestedId: 'beta', agents, chosen: 'alpha' },
    {
      name: 'none if the requested one is missing',
      pickedId: null,
      requestedId: 'gamma',
      agents,
      chosen: undefined,
    },
    {
      name: 'the requested one if the picked one does not exist',
      pickedId: 'gone',
      requestedId: 'beta',
      agents,
      chosen: 'beta',
    },
    { name: 'none if there are no agents', pickedId: null, requestedId: null, agents: [], chosen: undefined },
  ]
  for (const { name, chosen, ...choice } of cases) {
    test(name, () => assert.equal(chooseAgent(choice)?.id, chosen))
  }
})

describe('findApprovalBlocker', () => {
  const agent = agents[0] ?? null
  const cases = [
    { name: 'an owner with an agent approves', role: 'owner', agents, agent, blocker: null },
    { name: 'an admin with an agent approves', role: 'admin', agents, agent, blocker: null },
    { name: 'a viewer does not', role: 'viewer', agents, agent, blocker: /Viewers/ },
    {
      name: 'without a workspace, one must be created',
      role: null,
      agents: undefined,
      agent: null,
      blocker: /workspace/,
    },
    {
      name: 'agents must be loaded first',
      role: 'owner',
      agents: undefined,
      agent: null,
      blocker: /loading/,
    },
    {
      name: 'without an agent, one must be created',
      role: 'owner',
      agents: [],
      agent: null,
      blocker: /create an agent/,
    },
    {
      name: 'a typed ID blocks approving the agent picked before',
      role: 'owner',
      agents,
      agent,
      draft: 'research-bot',
      blocker: /create the new agent first, or press Cancel in its form/,
    },
    { name: 'an empty form does not block', role: 'owner', agents, agent, draft: ' ', blocker: null },
    { name: 'an agent has to be chosen', role: 'owner', agents, agent: null, blocker: /choose an agent/ },
    {
      name: 'nobody approves limits that are not shown yet',
      role: 'owner',
      agents,
      agent,
      areLimitsShown: false,
      blocker: /wait until the limits/,
    },
  ] as const
  for (const { name, blocker, ...approval } of cases) {
    test(name, () => {
      const found = findApprovalBlocker({ draft: null, areLimitsShown: true, ...approval })
      if (blocker === null) assert.equal(found, null)
      else assert.match(found ?? 'none', blocker)
    })
  }
})
