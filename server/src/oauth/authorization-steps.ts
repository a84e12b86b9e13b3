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
/** Base64url of 32 bytes: 43 characters, of which the last holds four bits (RFC 7636, section 4.2). */
const CODE_CHALLENGE_PATTERN = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

/**
 * The checks of an authorization request (OAuth 2.1, section 4.1.1), in order. `authorize.ts` checks the client and the
 * redirect URI before them, because a failed check is reported to that URI. The first one that fails is reported.
 * Each returns its part of the request, or throws.
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

/** Runs every step. Throws the error of the first one that fails. */
export function checkAuthorization(asked: Asked): Checked {
  return Object.fromEntries(Object.entries(STEPS).map(([name, step]) => [name, step(asked)])) as Checked
}

/** We never fetch what a client names, and accept no parameters other than those of the request itself. */
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

/** If we ignored it, the client would wait for a response in another form. */
function checkResponseMode({ parameters }: Asked): void {
  const parameter = 'response_mode'
  if ((findParameter(parameters, parameter) ?? 'query') === 'query') return
  throw new InvalidRequest('The only supported response_mode is query.', { parameter })
}

/** `state` is required, and the error names it when it is missing (D35a). */
function parseState({ parameters }: Asked): string {
  const parameter = 'state'
  const state = getParameter(parameters, parameter)
  if (countCodePoints(state) <= STATE_CODE_POINTS_MAX) return state
  throw new InvalidRequest(`state has more than ${STATE_CODE_POINTS_MAX} characters.`, { parameter })
}

/** A missing method would mean `plain` (RFC 7636, section 4.3), which protects nothing, so S256 is required. */
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
 * Returns the requested scopes that the client registered. Without `scope`, all that it registered (RFC 6749, section
 * 3.3).
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

/** The agent that the consent page selects at first. It need not exist. */
function parsePreferredAgent({ parameters }: Asked): AgentId | null {
  const parameter = 'agent_id'
  const text = findParameter(parameters, parameter)
  if (text === null) return null
  const agentId = parseAgentId(text)
  if (agentId === null) throw new InvalidRequest('agent_id is not a valid agent id.', { parameter })
  return agentId
}
