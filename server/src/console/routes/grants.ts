import type { FastifyRequest } from 'fastify'
import { getGrantSummary, listGrantSummaries } from '../../domain/grants/queries.ts'
import { issueSigningRequest, type SigningRequest } from '../../domain/grants/issue-signing-request.ts'
import { openGrant } from '../../domain/grants/open-grant.ts'
import { openReplacement } from '../../domain/grants/open-replacement.ts'
import { submitSignature } from '../../domain/grants/submit-signature.ts'
import { suspendGrant } from '../../domain/grants/suspend-grant.ts'
import type { HttpServer } from '../../http/open-http.ts'
import { membershipOf, type Door } from '../door.ts'
import { formatGrantDetail } from '../format-grant.ts'
import { parseAuthentication, parseNewAgentId } from '../parse-body.ts'
import { parseEvmAddress, parseTerms } from '../parse-terms.ts'
import { ChangeBody, GrantBody, GrantsQuery, TermsBody } from '../schemas-grants.ts'
import { AuthenticationBody, EmptyBody, SlugIdParams, SlugParams } from '../schemas.ts'
import { tellEnclaveFailure } from '../tell-enclave-failure.ts'

/**
 * A workspace's grants: opened and replaced by whoever may administer it, signed by the wallet's owner, whoever hands
 * the signature in (D15). Stopping one needs no signature.
 */
export function addGrantRoutes(http: HttpServer, door: Door): void {
  const { ctx } = door

  const showGrant = async (asked: { accountId: string; grantId: string; userId: string }) =>
    formatGrantDetail(await getGrantSummary(ctx, asked), ctx.clock.now())

  http.get(
    '/console/workspaces/:slug/grants',
    { schema: { params: SlugParams, querystring: GrantsQuery } },
    async (request) => {
      const { account, userId } = await membershipOf(door, request, 'viewer')
      const { mode, agent, wallet } = request.query
      const summaries = await listGrantSummaries(ctx, {
        accountId: account.id,
        mode,
        agentId: agent === undefined ? null : parseNewAgentId(agent, 'agent'),
        wallet: wallet === undefined ? null : parseEvmAddress('wallet', wallet),
        userId,
      })
      const now = ctx.clock.now()
      return { grants: summaries.map((summary) => formatGrantDetail(summary, now)) }
    },
  )

  http.get('/console/workspaces/:slug/grants/:id', { schema: { params: SlugIdParams } }, async (request) => {
    const { account, userId } = await membershipOf(door, request, 'viewer')
    return { grant: await showGrant({ accountId: account.id, grantId: request.params.id, userId }) }
  })

  http.post(
    '/console/workspaces/:slug/grants',
    { schema: { params: SlugParams, body: GrantBody } },
    async (request, reply) => {
      const { accountId, userId, actor } = await adminOf(door, request)
      const { body } = request
      const asked = {
        accountId,
        mode: body.mode,
        agentId: parseNewAgentId(body.agent_id, 'agent_id'),
        wallet: parseEvmAddress('wallet', body.wallet),
        ...parseTerms(body),
        actor,
      }
      const grant = await tellEnclaveFailure(openGrant(ctx, asked))
      return reply.code(201).send({ grant: await showGrant({ accountId, grantId: grant.id, userId }) })
    },
  )

  http.post(
    '/console/workspaces/:slug/grants/:id/replacement',
    { schema: { params: SlugIdParams, body: TermsBody } },
    async (request, reply) => {
      const { accountId, userId, actor } = await adminOf(door, request)
      const terms = parseTerms(request.body)
      const asked = { accountId, grantId: request.params.id, terms, actor }
      const grant = await tellEnclaveFailure(openReplacement(ctx, asked))
      return reply.code(201).send({ grant: await showGrant({ accountId, grantId: grant.id, userId }) })
    },
  )

  http.post(
    '/console/workspaces/:slug/grants/:id/signing-request',
    { schema: { params: SlugIdParams, body: ChangeBody } },
    async (request) => {
      const { accountId, userId, actor } = await adminOf(door, request)
      const grantId = request.params.id
      const asked = { accountId, grantId, change: request.body.change, actor }
      const issued = await tellEnclaveFailure(issueSigningRequest(ctx, asked))
      return {
        grant: await showGrant({ accountId, grantId, userId }),
        signing_request: issued.challenge === null ? null : formatSigningRequest(issued, ctx.clock.now()),
      }
    },
  )

  http.post(
    '/console/workspaces/:slug/grants/:id/signature',
    { schema: { params: SlugIdParams, body: AuthenticationBody } },
    async (request) => {
      const { accountId, userId, actor } = await adminOf(door, request)
      const grantId = request.params.id
      const assertion = parseAuthentication(request.body)
      await tellEnclaveFailure(submitSignature(ctx, { accountId, grantId, assertion, actor }))
      return { grant: await showGrant({ accountId, grantId, userId }) }
    },
  )

  http.post(
    '/console/workspaces/:slug/grants/:id/suspend',
    { schema: { params: SlugIdParams, body: EmptyBody } },
    async (request) => {
      const { accountId, userId, actor } = await adminOf(door, request)
      const grantId = request.params.id
      await suspendGrant(ctx, { accountId, grantId, actor })
      return { grant: await showGrant({ accountId, grantId, userId }) }
    },
  )
}

async function adminOf(door: Door, request: FastifyRequest<{ Params: { slug: string } }>) {
  const { account, userId } = await membershipOf(door, request, 'admin')
  return { accountId: account.id, userId, actor: { kind: 'user', id: userId } } as const
}

/** `PublicKeyCredentialRequestOptionsJSON` (WebAuthn, section 5.5): the challenge is the enclave request itself (D15). */
function formatSigningRequest(issued: SigningRequest, now: Date) {
  return {
    options: {
      challenge: Buffer.from(issued.challenge).toString('base64url'),
      rpId: issued.rpId,
      allowCredentials: [{ id: issued.credentialId, type: 'public-key' }],
      userVerification: 'required',
      timeout: issued.expiresAt.getTime() - now.getTime(),
    },
    expires_at: issued.expiresAt.toISOString(),
  }
}
