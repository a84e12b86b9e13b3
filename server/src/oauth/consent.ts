import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AuthorizationResponse, Decision } from '../domain/connections/authorization-request.ts'
import { decideAuthorizationRequest } from '../domain/connections/decide-authorization-request.ts'
import type { Context } from '../domain/context.ts'
import { getMembership } from '../domain/members/queries.ts'
import type { Session } from '../domain/sessions/session.ts'
import { enforceRateLimit } from '../domain/enforce-rate-limit.ts'
import type { HttpServer } from '../http/open-http.ts'
import { checkSameOrigin } from '../http/same-origin.ts'
import { parseAgentId, type AgentId } from '../values/agent-id.ts'
import { MODES, type Mode } from '../values/mode.ts'
import { Problem } from '../values/problem.ts'
import { parseScopes, type Scope } from '../values/scope.ts'
import type { OauthOptions } from './oauth-options.ts'
import { readForm } from './form.ts'
import { rejectOtherMethods } from './reject-other-methods.ts'
import { checkNoRepetition, findParameter, getParameter, type RequestParameters } from './parameters.ts'
import { formatAnswerUri } from './redirect-uri.ts'

const PATH = '/oauth/consent'

/**
 * Adds the endpoint that receives the consent page's form: the user's decision, the workspace and the agent. What the
 * client requested is read from the stored request, never from the form. The redirect back is a 303, so the browser
 * does not send the form again (RFC 9700, section 4.12).
 */
export function addConsent(scope: HttpServer, ctx: Context, options: OauthOptions): void {
  const { authUrl, readSession } = options
  const onRequest = async (request: FastifyRequest): Promise<void> => checkSameOrigin(request, authUrl)

  scope.post(PATH, { onRequest, schema: { hide: true } }, async (request, reply) => {
    const form = readForm(request.body)
    checkNoRepetition(form)
    const handle = getParameter(form, 'request')
    const session = await readSession(request)
    if (session === null) return redirectToSignIn(reply, handle)
    await enforceRateLimit(ctx, { subject: session.secretHash.toString('hex'), bucket: 'dashboard' })
    const decision = await parseDecision(ctx, { form, session })
    const decided = await decideAuthorizationRequest(ctx, { handle, session, decision })
    return reply.redirect(formatAnswerUri(decided.redirectUri, formatDecided(decided, authUrl)), 303)
  })
  rejectOtherMethods(scope, PATH, { allowed: ['POST'] })
}

async function parseDecision(
  ctx: Context,
  { form, session }: { form: RequestParameters; session: Session },
): Promise<Decision> {
  const decision = getParameter(form, 'decision')
  if (decision === 'deny') return { approve: false }
  if (decision !== 'approve') throw invalid('decision', 'must be approve or deny')
  const [mode, agentId, scopes] = [parseMode(form), parseAgent(form), parseGrantedScopes(form)]
  const slug = getParameter(form, 'workspace')
  const membership = await getMembership(ctx, { userId: session.userId, slug, right: 'manageConnections' })
  return { approve: true, membership, mode, agentId, scopes }
}

function parseMode(form: RequestParameters): Mode {
  const text = getParameter(form, 'mode')
  const mode = MODES.find((mode) => mode === text)
  if (mode === undefined) throw invalid('mode', `must be ${MODES.join(' or ')}`)
  return mode
}

function parseAgent(form: RequestParameters): AgentId {
  const agentId = parseAgentId(getParameter(form, 'agent_id'))
  if (agentId === null) throw invalid('agent_id', 'is not a valid agent id')
  return agentId
}

/**
 * Returns the scopes that the user selected. Returns null, which means all requested scopes, if the form has no field
 * `scope`. An empty field is an error, because the user selected no scope.
 */
function parseGrantedScopes(form: RequestParameters): Scope[] | null {
  if (!form.has('scope')) return null
  const scopes = parseScopes(findParameter(form, 'scope') ?? '')
  if (scopes === null || scopes.length === 0) throw invalid('scope', 'must name at least one scope')
  return scopes
}

/**
 * Returns the parameters of the redirect to the client (RFC 6749, sections 4.1.2 and 4.1.2.1), with `iss` (RFC 9207,
 * section 2).
 */
function formatDecided(decided: AuthorizationResponse, iss: string): Record<string, string> {
  const { state } = decided
  return decided.error === undefined ? { code: decided.code, state, iss } : { error: decided.error, state, iss }
}

/** Redirects to the sign-in page. After signing in, the user returns to the consent page. */
function redirectToSignIn(reply: FastifyReply, handle: string): FastifyReply {
  const next = `/consent?request=${encodeURIComponent(handle)}`
  return reply.redirect(`/sign-in?next=${encodeURIComponent(next)}`, 303)
}

function invalid(parameter: string, message: string): Problem {
  return new Problem('validation_failed', `${parameter} ${message}.`)
}
