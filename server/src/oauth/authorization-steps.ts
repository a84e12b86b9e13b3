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

/** An authorization request whose client and redirect URI are known to be good. */
export interface Asked {
  readonly parameters: RequestParameters
  readonly client: Pick<Client, 'scopes'>
  readonly origins: Origins
}

const STATE_CODE_POINTS_MAX = 4_096
/** Base64url of 32 bytes: 43 characters, of which the last holds four bits (RFC 7636, section 4.2). */
const CODE_CHALLENGE_PATTERN = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

/**
 * The checks of an authorization request (OAuth 2.1, section 4.1.1), one by one in this order: the first fault is the one
 * that is told. Each answers its part of the request, or throws.
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

/** Takes every step. Throws the first one's error. */
export function checkAuthorization(asked: Asked): Checked {
  return Object.fromEntries(Object.entries(STEPS).map(([name, step]) => [name, step(asked)])) as Checked
}

/** We fetch nothing that a client names, and trust no parameters but those that stand in the request. */
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
  throw new UnsupportedResponseType('The only response_type here is code.', { parameter })
}

/** To ignore it would leave the client waiting for an answer in another form. */
function checkResponseMode({ parameters }: Asked): void {
  const parameter = 'response_mode'
  if ((findParameter(parameters, parameter) ?? 'query') === 'query') return
  throw new InvalidRequest('The only response_mode here is query.', { parameter })
}

/** `state` is required, and the error names it when it is missing (D35a). */
function parseState({ parameters }: Asked): string {
  const parameter = 'state'
  const state = getParameter(parameters, parameter)
  if (countCodePoints(state) <= STATE_CODE_POINTS_MAX) return state
  throw new InvalidRequest(`state has more than ${STATE_CODE_POINTS_MAX} characters.`, { parameter })
}

/** RFC 7636, section 4.4.1. A method that is left out means `plain` there, which is as good as no challenge. */
function parseCodeChallenge({ parameters }: Asked): string {
  const challenge = getParameter(parameters, 'code_challenge')
  if (getParameter(parameters, 'code_challenge_method') !== 'S256') {
    throw new InvalidRequest('The only code_challenge_method here is S256.', { parameter: 'code_challenge_method' })
  }
  if (CODE_CHALLENGE_PATTERN.test(challenge)) return challenge
  const message =
    'With S256, code_challenge is 43 characters: the SHA-256 of the verifier, in base64url without padding.'
  throw new InvalidRequest(message, { parameter: 'code_challenge' })
}

/** What was asked for of what the client registered. Left out, it is all that the client registered (RFC 6749, section 3.3). */
function parseRequestedScopes({ parameters, client }: Asked): readonly Scope[] {
  const parameter = 'scope'
  const text = findParameter(parameters, parameter)
  if (text === null) return client.scopes
  const named = parseScopes(text)
  if (named === null) throw new InvalidScope('scope is names that are separated by single spaces.', { parameter })
  const scopes = named.filter((scope) => client.scopes.includes(scope))
  if (scopes.length > 0) return scopes
  const [known, registered] = [formatScopes(SCOPES), formatScopes(client.scopes)]
  throw new InvalidScope(`The scopes here are ${known}, of which this client registered ${registered}.`, { parameter })
}

/** The agent that the consent page shall show first. It need not exist. */
function parsePreferredAgent({ parameters }: Asked): AgentId | null {
  const parameter = 'agent_id'
  const text = findParameter(parameters, parameter)
  if (text === null) return null
  const agentId = parseAgentId(text)
  if (agentId === null) throw new InvalidRequest('agent_id cannot be the id of an agent.', { parameter })
  return agentId
}
