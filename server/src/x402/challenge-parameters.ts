import { hash } from 'node:crypto'
import type { SkipReason } from './payment-required.ts'
import { isObject, member, type JsonObject } from './wire-values.ts'

/**
 * The parameters of a challenge of MPP that we understand. They are those of the scheme `Payment` in
 * draft-httpauth-payment-01 (September 2026), section "Challenge". That draft tells clients to ignore other parameters.
 * We skip such a challenge instead: a parameter that we do not know may change what the seller does with a signature,
 * or where it expects it. No other parameter is known to be harmless.
 */
export const PARAMETERS = [
  // They identify the challenge, and say how and what to pay. `readChallenges` reads them.
  ...['id', 'realm', 'method', 'intent', 'request', 'expires'],
  // For people only.
  'description',
  // The seller gets it back unchanged.
  'opaque',
  // The digest of the request's body, and the header that carries the payment. Both are checked below.
  ...['digest', 'header'],
]
/**
 * The members of `request` and of its `methodDetails` that we understand: those of draft-payment-intent-charge-00 and
 * draft-evm-charge-00. `externalId` is the seller's own reference, and `permit2Address` is for another way of paying.
 */
const REQUEST_MEMBERS = ['amount', 'currency', 'recipient', 'description', 'externalId', 'methodDetails']
const DETAIL_MEMBERS = ['chainId', 'credentialTypes', 'decimals', 'permit2Address', 'splits']

/**
 * The headers in which a challenge can ask for the payment. The draft allows no other name: a header that a stranger
 * names could be one that the agent sends, or one that changes how the request is delivered.
 */
const CREDENTIAL_HEADERS = ['Authorization', 'Payment-Authorization'] as const
const [DEFAULT_HEADER] = CREDENTIAL_HEADERS

/** An algorithm and a digest in base64 (RFC 9530). The package mppx writes the digest without the colons. */
const DIGEST_PATTERN = /^(sha-256|sha-512)=(:?)([A-Za-z0-9+/]+)={0,2}\2$/

/** Returns the header that carries the payment for a challenge. Null if the challenge names one that is not allowed. */
export function credentialHeaderOf(name: string | null): (typeof CREDENTIAL_HEADERS)[number] | null {
  if (name === null) return DEFAULT_HEADER
  return CREDENTIAL_HEADERS.find((allowed) => allowed.toLowerCase() === name.toLowerCase()) ?? null
}

/**
 * Checks the parameters of a challenge that are not about the money. `body` is the body of the request that will pay,
 * or undefined if the agent sends this request itself. Returns why we skip the challenge, or null.
 */
export function checkParameters(
  parameters: ReadonlyMap<string, string>,
  { request, body }: { readonly request: JsonObject; readonly body: Buffer | null | undefined },
): SkipReason | null {
  const details = member(request, 'methodDetails')
  const isKnown =
    [...parameters.keys()].every((name) => PARAMETERS.includes(name)) &&
    Object.keys(request).every((name) => REQUEST_MEMBERS.includes(name)) &&
    Object.keys(isObject(details) ? details : {}).every((name) => DETAIL_MEMBERS.includes(name))
  if (!isKnown) return 'parameter_unknown'
  if (credentialHeaderOf(parameters.get('header') ?? null) === null) return 'header_unsupported'
  const digest = parameters.get('digest')
  return digest === undefined || body === undefined || isDigestOf(digest, body) ? null : 'digest_mismatch'
}

/** Returns whether this is the digest of the body. It must be in an algorithm that we know. */
function isDigestOf(digest: string, body: Buffer | null): boolean {
  const known = digest.split(',').flatMap((part) => {
    const [, algorithm, , value] = DIGEST_PATTERN.exec(part.trim()) ?? []
    return algorithm === undefined || value === undefined ? [] : [{ algorithm: algorithm.replace('-', ''), value }]
  })
  const isRight = ({ algorithm, value }: { readonly algorithm: string; readonly value: string }): boolean =>
    hash(algorithm, body ?? '', 'base64').replace(/=+$/, '') === value
  return known.length > 0 && known.every(isRight)
}
