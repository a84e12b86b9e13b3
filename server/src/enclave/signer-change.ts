import { formatRequestForAuthorizationSignature } from '@privy-io/node'

/** A party that may sign for a wallet, and the policy that it is held to. */
export type WalletSigner = { readonly signerId: string; readonly policyIds: readonly string[] }

export type SignerChange = {
  readonly enclaveWalletId: string
  /** The whole new list: the enclave replaces the old one. */
  readonly signers: readonly WalletSigner[]
  /** The enclave refuses the request from then on; minutes away, since its signature can be replayed until then. */
  readonly expiresAt: Date
}

/** The three parts of a WebAuthn assertion in base64url, as the browser gives them. */
export type OwnerAssertion = {
  readonly authenticatorData: string
  readonly clientDataJSON: string
  readonly signature: string
}

/** An HTTP request to the enclave in the form that its owner signs. */
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
 * The exact request that the wallet's owner must authorize, and the bytes that the passkey is challenged with: the
 * request's canonical form (RFC 8785) itself, so that what is signed is the request and nothing else (D15). Equal input
 * gives equal bytes.
 * @throws TypeError for a signer that is not held to exactly one policy: the enclave might not hold it to any.
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
  if (policyIds.length !== 1) throw new TypeError('a signer must be held to exactly one policy')
  return { signer_id: checkId(signerId), override_policy_ids: policyIds.map(checkId) }
}

/** An assertion as the enclave takes it for an authorization signature. @throws TypeError when it is not base64url. */
export function formatAssertion({ authenticatorData, clientDataJSON, signature }: OwnerAssertion): string {
  const parts = [authenticatorData, clientDataJSON, signature]
  if (!parts.every((part) => BASE64URL_PATTERN.test(part))) throw new TypeError('an assertion is not base64url')
  return `webauthn:${parts.join(':')}`
}

/** Ids stand in paths that are signed as they are, so they must need no encoding. */
function checkId(id: string): string {
  if (!ID_PATTERN.test(id)) throw new TypeError('an id of the enclave is malformed')
  return id
}
