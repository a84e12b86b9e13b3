import { formatRequestForAuthorizationSignature } from '@privy-io/node'
import type { OwnerAssertion, OwnersChange, RequestToSign, RulesChange } from '../enclave.ts'
import type { EnclaveClient } from './enclave-client.ts'
import { parseMembers, parsePolicy } from './read-record.ts'
import { toPolicyRules } from './terms.ts'

/** The URL of the enclave, and the id of our app there. */
export type EnclaveAddress = Pick<EnclaveClient, 'apiUrl' | 'appId'>

const ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/
const BASE64URL_PATTERN = /^[A-Za-z0-9_-]+$/

/** The request that gives a policy other rules. It contains all rules, so the owner signs the rules. */
export function prepareRules(client: EnclaveClient, { slot, rules, expiresAt }: RulesChange): RequestToSign<void> {
  const id = slot.enclaveRulesId
  const body = { rules: toPolicyRules(rules) }
  return {
    payload: buildPayload(client, { path: ['policies', id], body, expiresAt }),
    submit: async (assertion) => {
      const operation = "changing a policy's rules"
      const signed = signedBy(assertion, { expiresAt })
      const policy = await client.call(operation, async () => client.sdk.policies().update(id, { ...body, ...signed }))
      parsePolicy(client, operation, { id, policy })
    },
  }
}

/** The request that gives a quorum other members. A current member signs it. Afterwards, each member may sign alone. */
export function prepareOwners(client: EnclaveClient, { wallet, owners, expiresAt }: OwnersChange): RequestToSign<void> {
  // Nobody could ever change a quorum without members.
  if (owners.length === 0) throw new TypeError('a quorum needs a member')
  const id = wallet.enclaveOwnersId
  const body = { public_keys: [...owners], authorization_threshold: 1 }
  return {
    payload: buildPayload(client, { path: ['key_quorums', id], body, expiresAt }),
    submit: async (assertion) => {
      const operation = "changing a wallet's owners"
      const signed = signedBy(assertion, { expiresAt })
      const quorum = await client.call(operation, async () =>
        client.sdk.keyQuorums().update(id, { ...body, ...signed }),
      )
      parseMembers(client, operation, { id, quorum })
    },
  }
}

/**
 * Builds what a passkey signs: the canonical form of the exact request (RFC 8785), so the owner signs this request and
 * nothing else (D15). The enclave rejects the request from `expiresAt` on. Until then, the signature could be replayed.
 */
export function buildPayload(
  { apiUrl, appId }: EnclaveAddress,
  { path, body, expiresAt }: { path: readonly [collection: string, id: string]; body: object; expiresAt: Date },
): Uint8Array {
  const [collection, id] = path
  return formatRequestForAuthorizationSignature({
    version: 1,
    method: 'PATCH',
    url: `${apiUrl}/v1/${collection}/${checkId(id)}`,
    body,
    headers: { 'privy-app-id': appId, 'privy-request-expiry': String(expiresAt.getTime()) },
  })
}

/** Returns the expiry and the signature that are sent with a request that an owner has signed. */
function signedBy(assertion: OwnerAssertion, { expiresAt }: { expiresAt: Date }) {
  return { request_expiry: expiresAt.getTime(), authorization_context: { signatures: [formatAssertion(assertion)] } }
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
