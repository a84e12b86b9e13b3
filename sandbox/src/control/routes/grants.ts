import { OPERATOR } from '../../../../server/src/domain/audit/audit-entry.ts'
import type { Workspace } from '../../../../server/src/domain/workspaces/workspace.ts'
import { getWorkspace } from '../../../../server/src/domain/workspaces/get-workspace.ts'
import { formatGrant } from '../../../../server/src/domain/grants/format-grant.ts'
import type { GrantChange } from '../../../../server/src/domain/grants/grant.ts'
import { openGrant, type OpenGrantRequest } from '../../../../server/src/domain/grants/open-grant.ts'
import { suspendGrant } from '../../../../server/src/domain/grants/suspend-grant.ts'
import { stopAgents } from '../../../../server/src/domain/stops/stop-agents.ts'
import type { HttpServer } from '../../../../server/src/http/open-http.ts'
import { Problem } from '../../../../server/src/values/problem.ts'
import { Fields } from '../fields.ts'
import { idIn, slugIn } from '../path-fields.ts'
import { resumeGrant, signGrant } from '../sign-grant.ts'
import type { ControlContext } from '../control-context.ts'

/** Adds the routes that open, sign, revoke, suspend and resume grants as the wallet's owner. */
export function addGrantRoutes(http: HttpServer, control: ControlContext): void {
  const { context, state } = control

  http.post('/workspaces/:slug/grants', async (request, reply) => {
    const workspace = await getWorkspace(context, slugIn(request))
    const fields = new Fields(request.body)
    const wanted = readGrant(fields, workspace)
    const isSigned = fields.flag('sign', true)
    const pending = await openGrant(context, wanted)
    state.update({ grants: { ...state.current.grants, [pending.id]: workspace.slug } })
    const grant = isSigned ? await signGrant(control, { workspace, grantId: pending.id, change: 'activate' }) : pending
    return reply.code(201).send({ grant: formatGrant(grant) })
  })

  const addSigning = (path: string, change: GrantChange): void => {
    http.post(path, async (request) => {
      const grantId = idIn(request)
      const workspace = await workspaceOf(control, grantId)
      return { grant: formatGrant(await signGrant(control, { workspace, grantId, change })) }
    })
  }
  addSigning('/grants/:id/sign', 'activate')
  addSigning('/grants/:id/revoke', 'revoke')

  http.post('/grants/:id/resume', async (request) => {
    const grantId = idIn(request)
    const workspace = await workspaceOf(control, grantId)
    return { grant: formatGrant(await resumeGrant(control, { workspace, grantId })) }
  })

  http.post('/workspaces/:slug/stop', async (request) => {
    const { id: workspaceId } = await getWorkspace(context, slugIn(request))
    const fields = new Fields(request.body)
    const scope = {
      agentId: fields.has('agent_id') ? fields.agentId('agent_id') : null,
      walletAddress: fields.has('wallet') ? fields.address('wallet') : null,
    }
    const { grants } = await stopAgents(context, { workspaceId, mode: fields.mode(), ...scope, actor: OPERATOR })
    return { grants }
  })

  // Suspending requires no signature, because an owner must be able to stop an agent at once (D15).
  http.post('/grants/:id/suspend', async (request) => {
    const grantId = idIn(request)
    const { id: workspaceId } = await workspaceOf(control, grantId)
    return { grant: formatGrant(await suspendGrant(context, { workspaceId, grantId, actor: OPERATOR })) }
  })
}

function readGrant(fields: Fields, workspace: Workspace): OpenGrantRequest {
  return {
    workspaceId: workspace.id,
    mode: fields.mode(),
    agentId: fields.agentId('agent_id'),
    wallet: fields.address('wallet'),
    maxPerTxMicro: fields.amount('max_per_tx_usdc'),
    dailyCapMicro: fields.amount('daily_cap_usdc'),
    recipientAllowlist: fields.addresses('recipient_allowlist') ?? [],
    contractAllowlist: fields.addresses('contract_allowlist'),
    expiresAt: fields.time('expires_at'),
    x402: fields.flag('x402', false),
    actor: OPERATOR,
  }
}

async function workspaceOf({ context, state }: ControlContext, grantId: string): Promise<Workspace> {
  const { grants } = state.current
  const slug = Object.hasOwn(grants, grantId) ? grants[grantId] : undefined
  if (slug === undefined) throw new Problem('not_found', 'There is no grant with this id in the sandbox.')
  return await getWorkspace(context, slug)
}
