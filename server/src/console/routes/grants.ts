import { getSignedTerms } from '../../domain/grants/get-signed-terms.ts'
import { getGrantSummary, listGrantSummaries } from '../../domain/grants/queries.ts'
import { issueSigningRequest } from '../../domain/grants/issue-signing-request.ts'
import { openGrant } from '../../domain/grants/open-grant.ts'
import { openReplacement } from '../../domain/grants/open-replacement.ts'
import { submitSignature } from '../../domain/grants/submit-signature.ts'
import { suspendGrant } from '../../domain/grants/suspend-grant.ts'
import { formatAmount } from '../../values/money.ts'
import type { HttpServer } from '../../http/open-http.ts'
import type { ConsoleContext } from '../console-context.ts'
import { GRANT_ROUTES } from '../contract/grants.ts'
import { memberOf, currentMembership } from '../current-membership.ts'
import { formatGrantDetail } from '../format-grant.ts'
import { formatSigningRequest } from '../format-signing-request.ts'
import { parseAuthentication, parseNewAgentId } from '../parse-body.ts'
import { parseEvmAddress, parseTerms } from '../parse-terms.ts'
import { mapEnclaveErrors } from '../map-enclave-errors.ts'

/**
 * Adds the endpoints for a workspace's grants. Admins create and replace grants, and the wallet's owner signs them. Any
 * admin may submit the owner's signature (D15). Suspending a grant needs no signature.
 */
export function addGrantRoutes(http: HttpServer, { ctx }: ConsoleContext): void {
  const showGrant = async (asked: { workspaceId: string; grantId: string; userId: string }) =>
    formatGrantDetail(await getGrantSummary(ctx, asked), ctx.clock.now())

  http.route({
    ...GRANT_ROUTES.list,
    handler: async (request) => {
      const { workspace, userId } = currentMembership(request)
      const { mode, agent, wallet } = request.query
      const summaries = await listGrantSummaries(ctx, {
        workspaceId: workspace.id,
        mode,
        agentId: agent === undefined ? null : parseNewAgentId(agent, 'agent'),
        wallet: wallet === undefined ? null : parseEvmAddress('wallet', wallet),
        userId,
      })
      const now = ctx.clock.now()
      return { grants: summaries.map((summary) => formatGrantDetail(summary, now)) }
    },
  })

  http.route({
    ...GRANT_ROUTES.get,
    handler: async (request) => {
      const { workspace, userId } = currentMembership(request)
      return { grant: await showGrant({ workspaceId: workspace.id, grantId: request.params.id, userId }) }
    },
  })

  http.route({
    ...GRANT_ROUTES.getSignedTerms,
    handler: async (request) => {
      const { workspace } = currentMembership(request)
      const asked = { workspaceId: workspace.id, grantId: request.params.id }
      const { state, dailyCapMicro } = await mapEnclaveErrors(getSignedTerms(ctx, asked))
      const daily_cap_usdc = dailyCapMicro === null ? null : formatAmount(dailyCapMicro)
      return { signed_terms: { state, daily_cap_usdc } }
    },
  })

  http.route({
    ...GRANT_ROUTES.open,
    handler: async (request, reply) => {
      const { workspaceId, userId, actor } = memberOf(request)
      const { body } = request
      const asked = {
        workspaceId,
        mode: body.mode,
        agentId: parseNewAgentId(body.agent_id, 'agent_id'),
        wallet: parseEvmAddress('wallet', body.wallet),
        ...parseTerms(body),
        actor,
      }
      const grant = await openGrant(ctx, asked)
      return reply.code(201).send({ grant: await showGrant({ workspaceId, grantId: grant.id, userId }) })
    },
  })

  http.route({
    ...GRANT_ROUTES.openReplacement,
    handler: async (request, reply) => {
      const { workspaceId, userId, actor } = memberOf(request)
      const terms = parseTerms(request.body)
      const asked = { workspaceId, grantId: request.params.id, terms, actor }
      const grant = await mapEnclaveErrors(openReplacement(ctx, asked))
      return reply.code(201).send({ grant: await showGrant({ workspaceId, grantId: grant.id, userId }) })
    },
  })

  http.route({
    ...GRANT_ROUTES.issueSigningRequest,
    handler: async (request) => {
      const { workspaceId, userId, actor } = memberOf(request)
      const grantId = request.params.id
      const asked = { workspaceId, grantId, change: request.body.change, actor }
      const { request: issued } = await mapEnclaveErrors(issueSigningRequest(ctx, asked))
      return {
        grant: await showGrant({ workspaceId, grantId, userId }),
        signing_request: issued === null ? null : formatSigningRequest(issued),
      }
    },
  })

  http.route({
    ...GRANT_ROUTES.submitSignature,
    handler: async (request) => {
      const { workspaceId, userId, actor } = memberOf(request)
      const grantId = request.params.id
      const assertion = parseAuthentication(request.body)
      await mapEnclaveErrors(submitSignature(ctx, { workspaceId, grantId, assertion, actor }))
      return { grant: await showGrant({ workspaceId, grantId, userId }) }
    },
  })

  http.route({
    ...GRANT_ROUTES.suspend,
    handler: async (request) => {
      const { workspaceId, userId, actor } = memberOf(request)
      const grantId = request.params.id
      await suspendGrant(ctx, { workspaceId, grantId, actor })
      return { grant: await showGrant({ workspaceId, grantId, userId }) }
    },
  })
}
