import { fromBase64Url, toBase64, toBase64Url, type Bytes } from '../bytes.ts'
import { canonicalJson, isNestedDeeper, NESTING_MAX } from '../canonical-json.ts'
import {
  AUTHENTICATOR_DATA_BYTES_MIN,
  concat,
  FLAGS_REQUIRED,
  RP_ID_HASH_BYTES,
  sha256,
  verifySigned,
} from '../verify-assertion.ts'
import { decodeRequest, type Decoded } from '../decode/request.ts'
import { decodeResumption, type Resumption } from '../decode/resumption.ts'
import { Refusal } from '../refusal.ts'
import type { SignatureEntry } from './file.ts'
import type { SignatureKind } from './leaf.ts'
import { equalHashes } from './merkle.ts'
import { wrong } from './read.ts'

/** What an owner signed, or why the signer page would have refused it. */
export type Meaning =
  | Decoded
  | ({ readonly kind: 'resumption' } & Resumption)
  | { readonly kind: 'unknown'; readonly reason: string }

/** A signature that the passkey has made. Who owns the passkey is another question. */
export interface VerifiedSignature {
  readonly entry: SignatureEntry
  /** The public key as in requests to the enclave: SPKI in DER, in base64. */
  readonly publicKey: string
  /** What the signed bytes say. */
  readonly meaning: Meaning
  /** The subject of its leaf. */
  readonly subject: string
  /** The SHA-256 of its entry, in base64url, which its leaf contains. */
  readonly entryHash: string
  /** Its path in the file. */
  readonly part: string
}

const QUOTED = /"(?:[^"\\]|\\.)*"/g

/** Verifies that the passkey with the public key made the signature (WebAuthn, section 7.2). */
export async function verifySignature(entry: SignatureEntry, part: string): Promise<VerifiedSignature> {
  const { authenticator_data: authenticatorData, client_data_json: clientData, signature } = entry.assertion
  const path = (name: string): string => `${part}.assertion.${name}`
  const challenge = readChallenge(clientData, { origin: entry.origin, part: path('client_data_json') })
  if (entry.statement !== null && !equalHashes(await sha256(entry.statement), challenge)) {
    throw wrong(`${part}.statement`, 'the challenge is not its hash')
  }
  const relyingParty = await sha256(new TextEncoder().encode(entry.relying_party))
  if (
    authenticatorData.length < AUTHENTICATOR_DATA_BYTES_MIN ||
    !equalHashes(relyingParty, authenticatorData.slice(0, RP_ID_HASH_BYTES))
  ) {
    throw wrong(path('authenticator_data'), 'it is of another relying party')
  }
  if (((authenticatorData[RP_ID_HASH_BYTES] ?? 0) & FLAGS_REQUIRED) !== FLAGS_REQUIRED) {
    throw wrong(path('authenticator_data'), 'it does not say that the user was present and verified')
  }
  const key = fromBase64Url(entry.public_key)
  const signed = concat(authenticatorData, await sha256(clientData))
  const isValid = key === null ? null : await verifySigned(key, { der: signature, signed })
  if (key === null || isValid === null) throw wrong(`${part}.public_key`, 'it is not a point on the curve P-256')
  if (!isValid) throw wrong(path('signature'), 'it is not the signature of this passkey over this content')
  return {
    entry,
    publicKey: toBase64(key),
    meaning: readMeaning(entry.statement ?? challenge, entry.kind),
    subject: `${entry.credential} ${toBase64Url(await sha256(challenge))}`,
    entryHash: toBase64Url(await sha256(new TextEncoder().encode(canonicalJson(entry.value)))),
    part,
  }
}

/** Returns the challenge in the client data, which must have one meaning only. */
function readChallenge(clientData: Bytes, { origin, part }: { origin: string; part: string }): Bytes {
  const data = parseClientData(clientData)
  if (data === null) throw wrong(part, 'it is not a JSON object in UTF-8 in which each member occurs once')
  if (data['type'] !== 'webauthn.get') throw wrong(part, 'it is not of a signature')
  if (data['origin'] !== origin) throw wrong(part, 'it is of another origin')
  if (data['crossOrigin'] !== undefined && data['crossOrigin'] !== false) {
    throw wrong(part, 'the signer page was embedded in a page of another origin')
  }
  const challenge = typeof data['challenge'] === 'string' ? fromBase64Url(data['challenge']) : null
  if (challenge === null) throw wrong(part, 'it has no challenge in base64url')
  return challenge
}

function readMeaning(signed: Bytes, kind: SignatureKind): Meaning {
  try {
    if (kind !== 'resume') return decodeRequest(signed)
    const resumption = decodeResumption(signed)
    if (resumption !== null) return { kind: 'resumption', ...resumption }
    return { kind: 'unknown', reason: 'The statement resumes no grants.' }
  } catch (error) {
    if (error instanceof Refusal) return { kind: 'unknown', reason: error.message }
    throw error
  }
}

function parseClientData(bytes: Bytes): { readonly [member: string]: unknown } | null {
  if (isNestedDeeper(bytes, NESTING_MAX)) return null
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    // Of two members with the same name, `JSON.parse` keeps the last. In the text, each member has a colon.
    const colons = text.replaceAll(QUOTED, '').split(':').length - 1
    return countMembers(value) === colons ? (value as { readonly [member: string]: unknown }) : null
  } catch {
    return null
  }
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const nested = Object.values(value).reduce((sum: number, member) => sum + countMembers(member), 0)
  return nested + (Array.isArray(value) ? 0 : Object.keys(value).length)
}
