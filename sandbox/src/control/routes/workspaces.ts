import type { Workspace } from '../../../../server/src/domain/workspaces/workspace.ts'
import { changePlan } from '../../../../server/src/domain/workspaces/change-plan.ts'
import { getWorkspace } from '../../../../server/src/domain/workspaces/get-workspace.ts'
import { OPERATOR } from '../../../../server/src/domain/audit/audit-entry.ts'
import { issueKey } from '../../../../server/src/domain/keys/issue-key.ts'
import { PLAN_NAMES } from '../../../../server/src/domain/plans/plan.ts'
import type { HttpServer } from '../../../../server/src/http/open-http.ts'
import { SCOPES } from '../../../../server/src/values/scope.ts'
import { Fields } from '../fields.ts'
import { fund } from '../fund.ts'
import { createOwnedWallet } from '../create-owned-wallet.ts'
import { createOwnedWorkspace } from '../owners.ts'
import { slugIn } from '../path-fields.ts'
import type { ControlContext } from '../control-context.ts'

const ALLOWANCE_USED_MAX = 1_000_000_000

/** Adds the routes that create workspaces, keys and wallets, and change plans. */
export function addWorkspaceRoutes(http: HttpServer, control: ControlContext): void {
  const { context } = control

  http.post('/workspaces', async (request, reply) => {
    const fields = new Fields(request.body)
    const plan = fields.oneOf('plan', PLAN_NAMES, 'developer')
    const workspace = await createOwnedWorkspace(control, { name: fields.text('name'), plan })
    const [test, live] = await Promise.all([
      issueKey(context, { workspaceId: workspace.id, mode: 'test', actor: OPERATOR }),
      issueKey(context, { workspaceId: workspace.id, mode: 'live', actor: OPERATOR }),
    ])
    const keys = { test: test.secret, live: live.secret }
    return reply.code(201).send({ workspace: { ...formatWorkspace(workspace), keys } })
  })

  http.post('/workspaces/:slug/keys', async (request, reply) => {
    const workspace = await getWorkspace(context, slugIn(request))
    const fields = new Fields(request.body)
    const { key, secret } = await issueKey(context, {
      workspaceId: workspace.id,
      mode: fields.mode(),
      agentId: fields.has('agent_id') ? fields.agentId('agent_id') : null,
      scopes: fields.has('scopes') ? fields.someOf('scopes', SCOPES) : null,
      actor: OPERATOR,
    })
    const { id, mode, agentId, scopes } = key
    return reply.code(201).send({ key: { id, mode, agent_id: agentId, scopes, secret } })
  })

  http.post('/workspaces/:slug/wallets', async (request, reply) => {
    const workspace = await getWorkspace(context, slugIn(request))
    const fields = new Fields(request.body)
    const mode = fields.mode()
    const amountMicro = fields.amountOrZero('fund_usdc')
    const { address } = await createOwnedWallet(control, { workspace, mode, name: 'Wallet' })
    if (amountMicro !== null) await fund(control, { mode, to: address, amountMicro })
    return reply.code(201).send({ wallet: { address, mode } })
  })

  http.post('/workspaces/:slug/plan', async (request) => {
    const workspace = await getWorkspace(context, slugIn(request))
    const fields = new Fields(request.body)
    const allowanceUsed = fields.has('allowance_used')
      ? fields.integer('allowance_used', { min: 0, max: ALLOWANCE_USED_MAX })
      : undefined
    const changed = await changePlan(context, {
      workspace,
      plan: fields.oneOf('plan', PLAN_NAMES),
      allowanceUsed,
      actor: OPERATOR,
    })
    return { workspace: formatWorkspace(changed) }
  })
}

function formatWorkspace({ slug, name, plan }: Workspace) {
  return { slug, name, plan }
}
