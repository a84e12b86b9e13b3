import { fromBase64Url, type Bytes } from './bytes.ts'
import type { Credential, SignedRecord } from './find-record.ts'
import type { Json } from './canonical-json.ts'
import { cleanText } from './clean-text.ts'
import { Refusal } from './refusal.ts'

/** What the service says about a request. The page cannot verify these claims, and shows them separately. */
export interface Claims {
  readonly workspace: string | null
  readonly walletName: string | null
  readonly agentName: string | null
  /** The grant's 24-hour limit, and the limit that is in force now, for rules whose name does not contain the limit. */
  readonly dailyLimit: string | null
  readonly dailyLimitBefore: string | null
  /** Names of addresses, by the address in lower case. */
  readonly addressNames: ReadonlyMap<string, string>
  /** Names of passkeys, by their public key (base64 SPKI). */
  readonly keyNames: ReadonlyMap<string, string>
  /** The rules that are in force now. Undefined if there are none to compare with. */
  readonly before: Json | undefined
}

export type Message =
  | {
      readonly kind: 'sign'
      readonly payload: Bytes
      readonly credentials: readonly Credential[]
      readonly record: SignedRecord | null
      readonly claims: Claims
    }
  | { readonly kind: 'create'; readonly options: CreationOptions; readonly claims: Claims }
  | { readonly kind: 'done' }

/** The part of `PublicKeyCredentialCreationOptionsJSON` (WebAuthn, section 5.4) that this page uses. */
export interface CreationOptions {
  readonly rpId: string
  readonly rpName: string
  readonly challenge: Bytes
  readonly user: { readonly name: string; readonly displayName: string }
  readonly excludeIds: readonly Bytes[]
}

const TEXT_CHARS_MAX = 1_000
const KEY_CHARS_MAX = 2_000
/** A statement that resumes grants may list thousands of them. */
const PAYLOAD_BYTES_MAX = 2 * 1024 * 1024
const RECORD_CHARS_MAX = 128 * 1024
const ENTRIES_MAX = 200

type Members = { readonly [member: string]: unknown }

/** Parses a message of the window that opened this page. Throws a `Refusal` if it is malformed. */
export function readMessage(data: unknown): Message {
  const message = toMembers(data)
  switch (message['bursar']) {
    case 'done':
      return { kind: 'done' }
    case 'create':
      return { kind: 'create', options: readCreationOptions(message['options']), claims: readClaims(message['claims']) }
    case 'sign': {
      const payload = readBytes(message['payload'])
      if (payload.length === 0 || payload.length > PAYLOAD_BYTES_MAX) throw malformed()
      return {
        kind: 'sign',
        payload,
        credentials: readCredentials(message['credentials']),
        record: message['record'] === null || message['record'] === undefined ? null : readRecord(message['record']),
        claims: readClaims(message['claims']),
      }
    }
    default:
      throw malformed()
  }
}

function readCredentials(value: unknown): readonly Credential[] {
  const credentials = readList(value).map((one) => {
    const { id, publicKey } = toMembers(one)
    return { id: readText(id, KEY_CHARS_MAX), publicKey: readText(publicKey, KEY_CHARS_MAX), rawId: readBytes(id) }
  })
  // With an empty list, the browser would offer every passkey. No id may occur twice, because the id says which public
  // key the signature must have.
  if (credentials.length === 0 || new Set(credentials.map(({ id }) => id)).size !== credentials.length) {
    throw malformed()
  }
  return credentials
}

function readRecord(value: unknown): SignedRecord {
  const { statement, assertions } = toMembers(value)
  return {
    statement: readText(statement, RECORD_CHARS_MAX),
    assertions: readList(assertions).map((one) => {
      const { credentialId, authenticatorData, clientDataJSON, signature } = toMembers(one)
      return {
        credentialId: readText(credentialId, KEY_CHARS_MAX),
        authenticatorData: readText(authenticatorData, KEY_CHARS_MAX),
        clientDataJSON: readText(clientDataJSON, 2 * RECORD_CHARS_MAX),
        signature: readText(signature, KEY_CHARS_MAX),
      }
    }),
  }
}

function readCreationOptions(value: unknown): CreationOptions {
  const { rp, challenge, user, excludeCredentials, pubKeyCredParams } = toMembers(value)
  const { id: rpId, name: rpName } = toMembers(rp)
  const { name, displayName } = toMembers(user)
  const algorithms = readList(pubKeyCredParams).map((one) => toMembers(one)['alg'])
  // -7 is ES256. The enclave verifies no other signatures.
  if (algorithms.length !== 1 || algorithms[0] !== -7) throw malformed()
  return {
    rpId: readText(rpId),
    rpName: readName(rpName),
    challenge: readBytes(challenge),
    user: { name: readName(name), displayName: readName(displayName) },
    excludeIds: readList(excludeCredentials ?? []).map((one) => readBytes(toMembers(one)['id'])),
  }
}

function readClaims(value: unknown): Claims {
  const { workspace, walletName, agentName, addressNames, keyNames, before, ...limits } = toMembers(value ?? {})
  return {
    workspace: readOptionalName(workspace),
    walletName: readOptionalName(walletName),
    agentName: readOptionalName(agentName),
    dailyLimit: readOptionalName(limits['dailyLimit']),
    dailyLimitBefore: readOptionalName(limits['dailyLimitBefore']),
    addressNames: readNames(addressNames, (address) => address.toLowerCase()),
    keyNames: readNames(keyNames, (key) => key),
    before: before === null || before === undefined ? undefined : (before as Json),
  }
}

function readNames(value: unknown, toKey: (name: string) => string): ReadonlyMap<string, string> {
  const entries = Object.entries(toMembers(value ?? {}))
  if (entries.length > ENTRIES_MAX) throw malformed()
  return new Map(entries.map(([key, name]) => [toKey(key), readName(name)]))
}

function readBytes(value: unknown): Bytes {
  const bytes = typeof value === 'string' ? fromBase64Url(value) : null
  if (bytes === null) throw malformed()
  return bytes
}

function readText(value: unknown, charsMax = TEXT_CHARS_MAX): string {
  if (typeof value !== 'string' || value.length > charsMax) throw malformed()
  return value
}

/** Reads a text that is shown. */
function readName(value: unknown): string {
  return cleanText(readText(value))
}

function readOptionalName(value: unknown): string | null {
  return value === null || value === undefined ? null : readName(value)
}

function readList(value: unknown): readonly unknown[] {
  if (!Array.isArray(value) || value.length > ENTRIES_MAX) throw malformed()
  return value
}

function toMembers(value: unknown): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed()
  return value as Members
}

function malformed(): Refusal {
  return new Refusal('message_invalid', 'The page that opened this window sent a message that cannot be read.')
}
