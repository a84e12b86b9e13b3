import type { Client } from '../domain/connections/client.ts'
import type { Origins } from '../http/hosts.ts'
import { parseAgentId, type AgentId } from '../values/agent-id.ts'
import { parseScopes, SCOPES, formatScopes, type Scope } from '../values/scope.ts'
import { countCodePoints } from '../values/text.ts'
import {
  InvalidRequest,
  InvalidScope,
  RequestNotSupported,
  RequestUriNotSupported,
  UnsupportedResponseType,
} from './oauth-error.ts'
import { checkNoRepetition, findParameter, getParameter, type RequestParameters } from './parameters.ts'
import { parseResource } from './resource.ts'

/** An authorization request whose client and redirect URI have been checked. */
export interface Asked {
  readonly parameters: RequestParameters
  readonly client: Pick<Client, 'scopes'>
  readonly origins: Origins
}

const STATE_CODE_POINTS_MAX = 4_096
/**
 * The base64url form of 32 bytes has 43 characters. The last one encodes only four bits, so it is one of only 16
 * characters (RFC 7636, section 4.2).
 */
const CODE_CHALLENGE_PATTERN = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

/**
 * The checks of an authorization request (OAuth 2.1, section 4.1.1), in order. Each check returns its part of the
 * request, or throws. Only the first error is reported. Before these checks, `authorize.ts` checks the client and the
 * redirect URI, because the errors of these checks are reported to that URI.
 */
const STEPS = {
  repetition: ({ parameters }: Asked) => checkNoRepetition(parameters),
  requestObject: checkNoRequestObject,
  responseType: checkResponseType,
  responseMode: checkResponseMode,
  state: parseState,
  codeChallenge: parseCodeChallenge,
  scopes: parseRequestedScopes,
  resource: ({ parameters, origins }: Asked) => parseResource(parameters, origins),
  agentId: parsePreferredAgent,
}

type Checked = { readonly [Name in keyof typeof STEPS]: ReturnType<(typeof STEPS)[Name]> }

/** Runs the checks in order. Throws the error of the first check that fails. */
export function checkAuthorization(asked: Asked): Checked {
  return Object.fromEntries(Object.entries(STEPS).map(([name, step]) => [name, step(asked)])) as Checked
}

/**
 * Rejects request objects: the service never fetches a URL that a client sends, and reads only parameters of the
 * request itself.
 */
function checkNoRequestObject({ parameters }: Asked): void {
  if (findParameter(parameters, 'request') !== null) {
    throw new RequestNotSupported('Request objects are not supported.', { parameter: 'request' })
  }
  if (findParameter(parameters, 'request_uri') !== null) {
    throw new RequestUriNotSupported('Request objects are not supported.', { parameter: 'request_uri' })
  }
}

function checkResponseType({ parameters }: Asked): void {
  const parameter = 'response_type'
  if (getParameter(parameters, parameter) === 'code') return
  throw new UnsupportedResponseType('The only supported response_type is code.', { parameter })
}

/**
 * Rejects every `response_mode` except `query`. If another mode were ignored, the client would wait for a response in
 * that mode.
 */
function checkResponseMode({ parameters }: Asked): void {
  const parameter = 'response_mode'
  if ((findParameter(parameters, parameter) ?? 'query') === 'query') return
  throw new InvalidRequest('The only supported response_mode is query.', { parameter })
}

/** Returns the `state`, which is required. If it is missing, the error names it (D35a). */
function parseState({ parameters }: Asked): string {
  const parameter = 'state'
  const state = getParameter(parameters, parameter)
  if (countCodePoints(state) <= STATE_CODE_POINTS_MAX) return state
  throw new InvalidRequest(`state has more than ${STATE_CODE_POINTS_MAX} characters.`, { parameter })
}

/**
 * Returns the code challenge. Its method must be S256: a missing method would mean `plain`, which protects nothing (RFC
 * 7636, section 4.3).
 */
function parseCodeChallenge({ parameters }: Asked): string {
  const challenge = getParameter(parameters, 'code_challenge')
  if (getParameter(parameters, 'code_challenge_method') !== 'S256') {
    throw new InvalidRequest('The only supported code_challenge_method is S256.', {
      parameter: 'code_challenge_method',
    })
  }
  if (CODE_CHALLENGE_PATTERN.test(challenge)) return challenge
  const message =
    'code_challenge must be the SHA-256 of the verifier in base64url without padding, which is 43 characters.'
  throw new InvalidRequest(message, { parameter: 'code_challenge' })
}

/**
 * Returns the requested scopes that the client registered. If the request has no `scope`, returns all scopes that the
 * client registered (RFC 6749, section 3.3).
 */
function parseRequestedScopes({ parameters, client }: Asked): readonly Scope[] {
  const parameter = 'scope'
  const text = findParameter(parameters, parameter)
  if (text === null) return client.scopes
  const named = parseScopes(text)
  if (named === null) throw new InvalidScope('scope must be a list of names separated by single spaces.', { parameter })
  const scopes = named.filter((scope) => client.scopes.includes(scope))
  if (scopes.length > 0) return scopes
  const [known, registered] = [formatScopes(SCOPES), formatScopes(client.scopes)]
  throw new InvalidScope(`The supported scopes are ${known}. This client registered ${registered}.`, { parameter })
}

/** Returns the agent that the consent page preselects, or null. The agent need not exist. */
function parsePreferredAgent({ parameters }: Asked): AgentId | null {
  const parameter = 'agent_id'
  const text = findParameter(parameters, parameter)
  if (text === null) return null
  const agentId = parseAgentId(text)
  if (agentId === null) throw new InvalidRequest('agent_id is not a valid agent id.', { parameter })
  return agentId
}
