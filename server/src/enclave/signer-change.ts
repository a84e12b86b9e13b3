import { formatRequestForAuthorizationSignature } from '@privy-io/node'

/** A signer of a wallet, and the policies that limit it. */
export type WalletSigner = { readonly signerId: string; readonly policyIds: readonly string[] }

export type SignerChange = {
  readonly enclaveWalletId: string
  /** The complete new list. The enclave replaces the old one. */
  readonly signers: readonly WalletSigner[]
  /** The enclave rejects the request from this time on. Some minutes away: the signature could be replayed until then. */
  readonly expiresAt: Date
}

/** The three parts of a WebAuthn assertion, in base64url as the browser returns them. */
export type OwnerAssertion = {
  readonly authenticatorData: string
  readonly clientDataJSON: string
  readonly signature: string
}

/** An HTTP request to the enclave, in the form that the wallet's owner signs. */
export type SignableRequest = {
  readonly method: 'PATCH'
  readonly url: string
  readonly body: SignerChangeBody
  readonly headers: { readonly 'privy-app-id': string; readonly 'privy-request-expiry': string }
}

export type SignerChangeBody = {
  readonly additional_signers: { readonly signer_id: string; readonly override_policy_ids: string[] }[]
}

const ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/
const BASE64URL_PATTERN = /^[A-Za-z0-9_-]+$/

/**
 * Builds the exact request that the wallet's owner must authorize, and the challenge for the passkey. The challenge is the
 * canonical form of the request itself (RFC 8785), so the owner signs this request and nothing else (D15). Equal input
 * gives equal bytes.
 * @throws TypeError for a signer that does not have exactly one policy, because the enclave might not limit it at all.
 */
export function buildSignerChange(
  { apiUrl, appId }: { apiUrl: string; appId: string },
  { enclaveWalletId, signers, expiresAt }: SignerChange,
): { request: SignableRequest; challenge: Uint8Array } {
  const request: SignableRequest = {
    method: 'PATCH',
    url: `${apiUrl}/v1/wallets/${checkId(enclaveWalletId)}`,
    body: { additional_signers: signers.map(toAdditionalSigner) },
    headers: { 'privy-app-id': appId, 'privy-request-expiry': String(expiresAt.getTime()) },
  }
  return { request, challenge: formatRequestForAuthorizationSignature({ version: 1, ...request }) }
}

function toAdditionalSigner({ signerId, policyIds }: WalletSigner): SignerChangeBody['additional_signers'][number] {
  if (policyIds.length !== 1) throw new TypeError('a signer must have exactly one policy')
  return { signer_id: checkId(signerId), override_policy_ids: policyIds.map(checkId) }
}

/** Formats an assertion as the authorization signature that the enclave expects. @throws TypeError if it is not base64url. */
export function formatAssertion({ authenticatorData, clientDataJSON, signature }: OwnerAssertion): string {
  const parts = [authenticatorData, clientDataJSON, signature]
  if (!parts.every((part) => BASE64URL_PATTERN.test(part))) throw new TypeError('an assertion is not base64url')
  return `webauthn:${parts.join(':')}`
}

/** Ids are part of paths that are signed without encoding, so they must not need any. */
function checkId(id: string): string {
  if (!ID_PATTERN.test(id)) throw new TypeError('an enclave id is malformed')
  return id
}
