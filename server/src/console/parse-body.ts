import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Static } from 'typebox'
import { parseAgentId, type AgentId } from '../values/agent-id.ts'
import { parseAddress, type Address } from '../values/address.ts'
import { Problem, problem } from '../values/problem.ts'
import { parseTime as parseTimeText } from '../values/time.ts'
import type { AuthenticationBody, RegistrationBody } from './contract/webauthn.ts'

export function parseNewAgentId(text: string, member = 'id'): AgentId {
  const id = parseAgentId(text)
  if (id !== null) return id
  throw invalid(
    member,
    'must be 1 to 64 characters, without control or invisible characters or outer white space, and not . or ..',
  )
}

/** Throws 400 `address_invalid` if the text is not an EVM address (D20). */
export function parseAddressOf(member: string, text: string): Address {
  const address = parseAddress(text)
  if (address !== null) return address
  throw problem('address_invalid', {
    details: [{ path: member, message: 'is not an EVM address, or its capitals (checksum) do not match' }],
  })
}

export function parseTime(member: string, text: string): Date {
  const time = parseTimeText(text)
  if (time === null) throw invalid(member, 'must be an ISO 8601 time with its offset')
  return time
}

/** Passes on only the members that the schema checked. */
export function parseRegistration({ response: given }: Static<typeof RegistrationBody>): RegistrationResponseJSON {
  const { clientDataJSON, attestationObject, transports = [] } = given.response
  return {
    id: given.id,
    rawId: given.rawId,
    type: given.type,
    response: { clientDataJSON, attestationObject, transports },
    clientExtensionResults: {},
  }
}

export function parseAuthentication({
  response: given,
}: Static<typeof AuthenticationBody>): AuthenticationResponseJSON {
  const { clientDataJSON, authenticatorData, signature, userHandle } = given.response
  return {
    id: given.id,
    rawId: given.rawId,
    type: given.type,
    response: { clientDataJSON, authenticatorData, signature, ...(userHandle === undefined ? {} : { userHandle }) },
    clientExtensionResults: {},
  }
}

export function invalid(member: string, message: string): Problem {
  return new Problem('validation_failed', `${member} ${message}.`, { details: [{ path: member, message }] })
}
