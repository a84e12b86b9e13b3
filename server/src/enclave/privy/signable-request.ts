import { formatRequestForAuthorizationSignature } from '@privy-io/node'

/** The three parts of a WebAuthn assertion, in base64url as the browser returns them. */
export type OwnerAssertion = {
  readonly authenticatorData: string
  readonly clientDataJSON: string
  readonly signature: string
}

/** An HTTP request to the enclave, in the form that an owner signs. */
export type SignableRequest<Body> = {
  readonly method: 'PATCH'
  readonly url: string
  readonly body: Body
  readonly headers: { readonly 'privy-app-id': string; readonly 'privy-request-expiry': string }
}

/** A request and the challenge for the passkey that authorizes it. */
export type BuiltRequest<Body> = { readonly request: SignableRequest<Body>; readonly challenge: Uint8Array }

/** The URL of the enclave, and the id of our app there. */
export type EnclaveAddress = { readonly apiUrl: string; readonly appId: string }

const ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/
const BASE64URL_PATTERN = /^[A-Za-z0-9_-]+$/

/**
 * Builds the exact request that an owner must authorize, and the challenge for the passkey. The challenge is the
 * canonical form of the request itself (RFC 8785), so the owner signs this request and nothing else (D15). Equal input
 * gives equal bytes. The enclave rejects the request from `expiresAt` on. Until then, the signature could be replayed.
 */
export function buildRequest<Body>(
  { apiUrl, appId }: EnclaveAddress,
  { path, body, expiresAt }: { path: readonly [collection: string, id: string]; body: Body; expiresAt: Date },
): BuiltRequest<Body> {
  const [collection, id] = path
  const request: SignableRequest<Body> = {
    method: 'PATCH',
    url: `${apiUrl}/v1/${collection}/${checkId(id)}`,
    body,
    headers: { 'privy-app-id': appId, 'privy-request-expiry': String(expiresAt.getTime()) },
  }
  return { request, challenge: formatRequestForAuthorizationSignature({ version: 1, ...request }) }
}

/**
 * Formats an assertion as the authorization signature that the enclave expects. @throws TypeError if it is not
 * base64url.
 */
export function formatAssertion({ authenticatorData, clientDataJSON, signature }: OwnerAssertion): string {
  const parts = [authenticatorData, clientDataJSON, signature]
  if (!parts.every((part) => BASE64URL_PATTERN.test(part))) throw new TypeError('an assertion is not base64url')
  return `webauthn:${parts.join(':')}`
}

/** Ids are part of paths that are signed without encoding, so an id must not need encoding. */
export function checkId(id: string): string {
  if (!ID_PATTERN.test(id)) throw new TypeError('an enclave id is malformed')
  return id
}
