import type { KeyObject } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import { ApiError, invalidData, unauthorized } from './errors.ts'
import { IDEMPOTENCY_KEY_CHARS_MAX, SIGNATURES_MAX } from './limits.ts'
import { loadPublicKey } from './public-key.ts'
import type { QuorumRecord } from './records.ts'
import { verifySignature } from './verify-signature.ts'

/** The parts of a request that its signatures cover, exactly as received, and the signatures. */
export interface SignedRequest {
  readonly method: string
  /** The address that the client called: the configured public address with the request's path. */
  readonly url: string
  readonly body: unknown
  readonly appId: string
  readonly idempotencyKey: string | null
  readonly expiry: string | null
  /** The signature header, or '' if it is missing. */
  readonly signatures: string
}

/**
 * A party that may authorize a request. `quorum` is null if the resource has no owner; then the app's secret is enough.
 */
export interface Authorizer<T> {
  readonly quorum: QuorumRecord | null
  readonly granted: T
}

const DOCS = 'https://docs.privy.io/api-reference/authorization-signatures'
const EXPIRY_PATTERN = /^[0-9]{1,16}$/

/**
 * Returns the first of `parties` whose quorum signed the request. A quorum has signed if enough of its members have.
 * Throws 401 with the provider's message if no quorum signed, or if the request has expired.
 */
export function checkAuthorization<T>(request: SignedRequest, parties: readonly Authorizer<T>[], nowMs: number): T {
  checkExpiry(request.expiry, nowMs)
  const signatures = request.signatures.split(',').flatMap((signature) => signature.trim() || [])
  if (signatures.length > SIGNATURES_MAX) throw invalidData('Too many authorization signatures')
  if (signatures.length === 0) {
    const open = parties.find((party) => party.quorum === null)
    if (open !== undefined) return open.granted
    throw unauthorized(
      `Missing \`privy-authorization-signature\` header or no signatures provided. Learn more about authorization signatures here: ${DOCS}`,
    )
  }
  return findSigner(signatures, formatSignedPayload(request), parties)
}

/**
 * Returns the bytes that a request's signatures cover. They are the canonical JSON (RFC 8785) of version, method, URL,
 * body and exactly the `privy-` headers that were sent. An empty body is signed as "".
 */
export function formatSignedPayload(request: Omit<SignedRequest, 'signatures'>): Uint8Array {
  const headers = {
    'privy-app-id': request.appId,
    ...(request.idempotencyKey === null ? {} : { 'privy-idempotency-key': request.idempotencyKey }),
    ...(request.expiry === null ? {} : { 'privy-request-expiry': request.expiry }),
  }
  const body = isEmpty(request.body) ? '' : request.body
  return Buffer.from(canonicalJson({ version: 1, method: request.method, url: request.url, body, headers }))
}

/** Checks the format of an idempotency key. Called before the key is looked up. */
export function checkIdempotencyKey(key: string | null): void {
  if (key !== null && key.length > IDEMPOTENCY_KEY_CHARS_MAX) {
    throw invalidData(`Idempotency key must be at most ${IDEMPOTENCY_KEY_CHARS_MAX} characters`)
  }
}

function findSigner<T>(signatures: readonly string[], payload: Uint8Array, parties: readonly Authorizer<T>[]): T {
  let validMax = 0
  let countMatches = false
  for (const { quorum, granted } of parties) {
    if (quorum === null) continue
    const valid = countMembers(signatures, payload, quorum)
    if (valid === 0) continue
    const exact = signatures.length === quorum.authorization_threshold
    if (exact && valid === signatures.length) return granted
    validMax = Math.max(validMax, valid)
    countMatches ||= exact
  }
  if (validMax === 0) {
    throw unauthorized(
      `No valid authorization signatures were provided. Your payload may be malformed or your signing keys may be incorrect or expired. Docs: ${DOCS}`,
    )
  }
  if (countMatches) throw unauthorized('Not enough valid authorization signatures provided')
  throw unauthorized(
    "Number of signatures in `privy-authorization-signature` header does not match the wallet's authorization threshold.",
  )
}

/** Returns how many different members of the quorum made the signatures. */
function countMembers(signatures: readonly string[], payload: Uint8Array, quorum: QuorumRecord): number {
  const left = new Set<KeyObject>(quorum.authorization_keys.map((member) => loadPublicKey(member.public_key)))
  let count = 0
  for (const signature of signatures) {
    const signer = [...left].find((key) => verifySignature(signature, payload, key))
    if (signer === undefined) continue
    left.delete(signer)
    count += 1
  }
  return count
}

/** Throws 401 if the request has expired, or 400 if its expiry is not a valid time. */
export function checkExpiry(expiry: string | null, nowMs: number): void {
  if (expiry === null) return
  if (!EXPIRY_PATTERN.test(expiry)) throw invalidData('`privy-request-expiry` must be a Unix timestamp in milliseconds')
  if (Number(expiry) <= nowMs) throw new ApiError(401, 'The request has expired', { code: 'request_expired' })
}

function isEmpty(body: unknown): boolean {
  return body === undefined || body === null || (typeof body === 'object' && Object.keys(body).length === 0)
}
