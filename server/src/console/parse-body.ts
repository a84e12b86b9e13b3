import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { Static } from 'typebox'
import { parseAgentId, type AgentId, AGENT_ID_RULE } from '../values/agent-id.ts'
import { parseAddress, type Address, ADDRESS_RULE } from '../values/address.ts'
import { parseTime as parseTimeText, timeRuleOf } from '../values/time.ts'
import { parseTimeZone, TIME_ZONE_RULE, type TimeZone } from '../values/time-zone.ts'
import type { AuthenticationBody, OwnerAuthentication, RegistrationBody } from './contract/webauthn.ts'
import { isId, type IdKind } from '../values/ids.ts'
import { invalidMember } from '../values/invalid-request.ts'

export function parseNewAgentId(text: string, member = 'id'): AgentId {
  const id = parseAgentId(text)
  if (id !== null) return id
  throw invalidMember(member, AGENT_ID_RULE)
}

/** Parses an EVM address. Throws 400 `address_invalid` if it is malformed (D20). */
export function parseAddressOf(member: string, text: string): Address {
  const address = parseAddress(text)
  if (address !== null) return address
  throw invalidMember(member, ADDRESS_RULE, 'address_invalid')
}

export function parseTimeOf(member: string, text: string): Date {
  const time = parseTimeText(text)
  if (time === null) throw invalidMember(member, timeRuleOf(text))
  return time
}

/** Parses the name of a time zone. It is UTC by default. */
export function parseTimeZoneOf(name = 'UTC'): TimeZone {
  const zone = parseTimeZone(name)
  if (zone === null) throw invalidMember('time_zone', TIME_ZONE_RULE)
  return zone
}

/** Converts a passkey registration for the WebAuthn library. Keeps only the members that the schema has checked. */
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

export function parseAuthentication({ response }: Static<typeof AuthenticationBody>): AuthenticationResponseJSON {
  return parseAssertion(response)
}

export function parseAssertion(given: Static<typeof OwnerAuthentication>): AuthenticationResponseJSON {
  const { clientDataJSON, authenticatorData, signature, userHandle } = given.response
  return {
    id: given.id,
    rawId: given.rawId,
    type: given.type,
    response: { clientDataJSON, authenticatorData, signature, ...(userHandle === undefined ? {} : { userHandle }) },
    clientExtensionResults: {},
  }
}

/** Parses the id after which a page begins. Returns null for the first page. */
export function parseBefore(kind: IdKind, before: string | null | undefined): string | null {
  if (before === undefined || before === null) return null
  if (!isId(kind, before)) throw invalidMember('before', 'must be the id of the last entry of the previous page')
  return before
}
