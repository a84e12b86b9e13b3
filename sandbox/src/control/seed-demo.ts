import type { Workspace } from '../../../server/src/domain/workspaces/workspace.ts'
import { getWorkspace } from '../../../server/src/domain/workspaces/get-workspace.ts'
import { OPERATOR } from '../../../server/src/domain/audit/audit-entry.ts'
import { createAgent } from '../../../server/src/domain/agents/create-agent.ts'
import { openGrant } from '../../../server/src/domain/grants/open-grant.ts'
import { issueKey } from '../../../server/src/domain/keys/issue-key.ts'
import { parseAgentId, type AgentId } from '../../../server/src/values/agent-id.ts'
import { microUsdc } from '../../../server/src/values/money.ts'
import { Problem } from '../../../server/src/values/problem.ts'
import { type Mode } from '../addresses.ts'
import type { DemoMode } from '../state/sandbox-state.ts'
import { fund } from './fund.ts'
import { createOwnedWallet } from './create-owned-wallet.ts'
import { createOwnedWorkspace, ensureOwner } from './owners.ts'
import { signGrant } from './sign-grant.ts'
import type { ControlContext } from './control-context.ts'

export const DEMO_SLUG = 'demo'
export const DEMO_AGENT = 'demo-agent'
const USDC = 1_000_000n
const BALANCE_MICRO = microUsdc(1_000n * USDC)
const MAX_PER_TX_MICRO = microUsdc(10n * USDC)
const DAILY_CAP_MICRO = microUsdc(100n * USDC)

/**
 * Creates the demo workspace once. In each mode, it has a key, a wallet with 1,000 USDC, and an agent with an active
 * grant. A mode is recorded when it is complete. If the sandbox crashes before that, the next start creates the mode
 * again in the same workspace.
 */
export async function seedDemo(control: ControlContext): Promise<Readonly<Record<Mode, DemoMode>>> {
  const workspace = await ensureWorkspace(control)
  const ensureMode = async (mode: Mode) =>
    control.state.current.demo[mode] ?? (await seedMode(control, workspace, mode))
  const [test, live] = await Promise.all([ensureMode('test'), ensureMode('live')])
  return { test, live }
}

async function ensureWorkspace(control: ControlContext): Promise<Workspace> {
  const { context } = control
  try {
    const workspace = await getWorkspace(context, DEMO_SLUG)
    await ensureOwner(control, workspace)
    return workspace
  } catch (error) {
    if (!(error instanceof Problem) || error.type !== 'not_found') throw error
    return await createOwnedWorkspace(control, { name: DEMO_SLUG, plan: 'developer' })
  }
}

async function seedMode(control: ControlContext, workspace: Workspace, mode: Mode): Promise<DemoMode> {
  const { context, state } = control
  const workspaceId = workspace.id
  const [{ secret }, { address }] = await Promise.all([
    issueKey(context, { workspaceId, mode, actor: OPERATOR }),
    createOwnedWallet(control, { workspace, mode, name: 'Demo wallet' }),
    createAgent(context, { workspaceId, mode, id: demoAgentId(), actor: OPERATOR }),
  ])
  const [grant] = await Promise.all([
    openGrant(context, {
      workspaceId,
      mode,
      agentId: demoAgentId(),
      wallet: address,
      maxPerTxMicro: MAX_PER_TX_MICRO,
      dailyCapMicro: DAILY_CAP_MICRO,
      recipientAllowlist: [],
      expiresAt: null,
      x402: true,
      actor: OPERATOR,
    }),
    fund(control, { mode, to: address, amountMicro: BALANCE_MICRO }),
  ])
  await signGrant(control, { workspace, grantId: grant.id, change: 'activate' })
  const made = { key: secret, wallet: address }
  const { demo, grants } = state.current
  state.update({ demo: { ...demo, [mode]: made }, grants: { ...grants, [grant.id]: workspace.slug } })
  return made
}

function demoAgentId(): AgentId {
  const id = parseAgentId(DEMO_AGENT)
  if (id === null) throw new Error('the demo agent has no valid id')
  return id
}
