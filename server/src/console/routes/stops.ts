import { getGrantSummary } from '../../domain/grants/queries.ts'
import { issueResumeRequest } from '../../domain/stops/issue-resume-request.ts'
import { listStops, previewStop, type ListedStop } from '../../domain/stops/queries.ts'
import { resumeGrants } from '../../domain/stops/resume-grants.ts'
import { stopAgents } from '../../domain/stops/stop-agents.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { invalidMember } from '../../values/invalid-request.ts'
import type { ConsoleContext } from '../console-context.ts'
import { STOP_ROUTES, type Stop } from '../contract/stops.ts'
import { currentMembership, memberOf } from '../current-membership.ts'
import { formatGrantDetail } from '../format-grant.ts'
import { formatSigningRequest } from '../format-signing-request.ts'
import { parseAssertion, parseNewAgentId, parseTimeOf } from '../parse-body.ts'
import { parseEvmAddress } from '../parse-terms.ts'

/** Stopping agents, and resuming grants (D87). Any admin stops; an owner of the wallets signs to resume. */
export function addStopRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  http.route({
    ...STOP_ROUTES.list,
    handler: async (request) => {
      const { workspace, userId } = currentMembership(request)
      const stops = await listStops(ctx, { workspaceId: workspace.id, mode: request.query.mode, userId })
      return { stops: stops.map(formatStop) }
    },
  })

  http.route({
    ...STOP_ROUTES.preview,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const { mode, agent = null, wallet = null } = request.query
      const preview = await previewStop(ctx, { workspaceId: workspace.id, mode, ...parseScope({ agent, wallet }) })
      const { grants, agents, wallets, pendingPayments } = preview
      return { grants, agents, wallets, pending_payments: pendingPayments }
    },
  })

  http.route({
    ...STOP_ROUTES.create,
    handler: async (request) => {
      const { workspaceId, actor } = memberOf(request)
      const { mode, agent_id: agent, wallet } = request.body
      const { stop, grants } = await stopAgents(ctx, { workspaceId, mode, ...parseScope({ agent, wallet }), actor })
      return { stop_id: stop?.id ?? null, grants }
    },
  })

  http.route({
    ...STOP_ROUTES.issueResumeRequest,
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      const asked = { workspaceId, stopId: request.params.id, credentialId: request.body.credential_id }
      return { signing_request: formatSigningRequest(await issueResumeRequest(ctx, asked)) }
    },
  })

  http.route({
    ...STOP_ROUTES.resume,
    handler: async (request) => {
      const { workspaceId, actor } = memberOf(request)
      const asked = { workspaceId, stopId: request.params.id, ...parseSigned(request.body), actor }
      return { grants: (await resumeGrants(ctx, asked)).length }
    },
  })

  http.route({
    ...STOP_ROUTES.issueGrantRequest,
    handler: async (request) => {
      const { workspaceId } = memberOf(request)
      const asked = { workspaceId, grantId: request.params.id }
      return { signing_request: formatSigningRequest(await issueResumeRequest(ctx, asked)) }
    },
  })

  http.route({
    ...STOP_ROUTES.resumeGrant,
    handler: async (request) => {
      const { workspaceId, userId, actor } = memberOf(request)
      const grantId = request.params.id
      await resumeGrants(ctx, { workspaceId, grantId, ...parseSigned(request.body), actor })
      return { grant: formatGrantDetail(await getGrantSummary(ctx, { workspaceId, grantId, userId }), ctx.clock.now()) }
    },
  })
}

/** Parses the agent or the wallet that a stop concerns. Null in both stands for all agents. */
function parseScope({ agent, wallet }: { agent: string | null; wallet: string | null }) {
  if (agent !== null && wallet !== null) throw invalidMember('wallet', 'must be null if an agent is given')
  return {
    agentId: agent === null ? null : parseNewAgentId(agent, 'agent_id'),
    walletAddress: wallet === null ? null : parseEvmAddress('wallet', wallet),
  }
}

function parseSigned({
  expires_at: expiresAt,
  response,
}: {
  expires_at: string
  response: Parameters<typeof parseAssertion>[0]
}) {
  return { expiresAt: parseTimeOf('expires_at', expiresAt), assertion: parseAssertion(response) }
}

function formatStop({ stop, createdByName, wallets, groups }: ListedStop): Stop {
  return {
    id: stop.id,
    mode: stop.mode,
    agent_id: stop.agentId,
    wallet: stop.walletAddress,
    created_at: stop.createdAt.toISOString(),
    created_by: createdByName,
    grants: countGrants(wallets),
    groups: groups.map((group) => ({
      credential_id: group.credentialId,
      name: group.name,
      is_mine: group.isMine,
      people: group.people,
      wallets: group.wallets.map(({ address, name }) => ({ address, name })),
      grants: countGrants(group.wallets),
    })),
  }
}

function countGrants(wallets: readonly { readonly grants: number }[]): number {
  return wallets.reduce((sum, { grants }) => sum + grants, 0)
}
