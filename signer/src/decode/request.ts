import { parseCanonicalJson, type Json } from '../canonical-json.ts'
import { Refusal } from '../refusal.ts'
import { decodeRecord, isRecord, type WalletRecord } from './record.ts'
import { decodeRules, type RuleTerms } from './rules.ts'
import { expect, readId, readList, readMembers, readText, unknown } from './shape.ts'
import { decodeTransfer, type Transfer } from './transfer.ts'
import { decodeTypedData, type TransferAuthorization } from './typed-data.ts'

/**
 * What the bytes to be signed mean. The bytes are a request in the form of the enclave's provider, and this folder reads
 * that form on purpose: the owner sees what is really signed, not what the service says about it. So the words here are
 * the provider's. Another provider needs another decoder.
 */
export type Decoded =
  /** Not a request to the enclave: the owner confirms what belongs to a new wallet. */
  | { readonly kind: 'record'; readonly record: WalletRecord }
  /** The complete terms of one agent's grant. Null ends the grant: nothing is allowed any more. */
  | ({ readonly kind: 'policy'; readonly policyId: string; readonly terms: RuleTerms | null } & Envelope)
  | ({ readonly kind: 'transfer'; readonly walletId: string; readonly transfer: Transfer } & Envelope)
  | ({
      readonly kind: 'authorization'
      readonly walletId: string
      readonly authorization: TransferAuthorization
    } & Envelope)
  /** The complete list of passkeys that own the wallet. Each one may sign alone. Base64 of their SPKI. */
  | ({ readonly kind: 'owners'; readonly quorumId: string; readonly publicKeys: readonly string[] } & Envelope)
  /** The complete list of signers of the wallet, each with its policy. */
  | ({ readonly kind: 'signers'; readonly walletId: string; readonly slots: readonly Slot[] } & Envelope)

export interface Slot {
  readonly signerId: string
  readonly policyId: string
}

/** Where the request goes, and until when the enclave accepts it. */
export interface Envelope {
  readonly enclaveUrl: string
  readonly appId: string
  readonly expiresAt: Date
}

const PATH_PATTERN = /^(https?:\/\/[^?#]+?)\/v1\/(policies|wallets|key_quorums)\/([A-Za-z0-9_-]{1,64})(\/rpc)?$/
const MILLISECONDS_PATTERN = /^[0-9]{13}$/
/** Visible characters of ASCII, as a header may contain. */
const IDEMPOTENCY_KEY_PATTERN = /^[!-~]{1,256}$/
/** The base64 of the only form that a P-256 key has in SPKI DER with an uncompressed point: 91 bytes. */
const PUBLIC_KEY_PATTERN = /^MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE[A-Za-z0-9+/]{85}[AQgw]==$/

/**
 * Decodes the bytes that the passkey is to sign: the canonical form of a request to the enclave, or a wallet record.
 * Throws a `Refusal` for bytes that this page cannot put in words completely.
 */
export function decodeRequest(payload: Uint8Array): Decoded {
  const value = parseCanonicalJson(payload)
  if (value === undefined) throw new Refusal('request_unreadable', 'The request is not canonical JSON.')
  if (isRecord(value)) return { kind: 'record', record: decodeRecord(value) }
  const request = readMembers(value, 'the request', { required: ['version', 'method', 'url', 'body', 'headers'] })
  expect(request['version'], 1, 'the version')
  const [, enclaveUrl = '', resource, id = '', call] = PATH_PATTERN.exec(readText(request['url'], 'the address')) ?? []
  const envelope = { enclaveUrl, ...decodeHeaders(request['headers']) }
  const action = `${readText(request['method'], 'the method')} ${resource ?? ''}${call ?? ''}`
  const { body } = request
  switch (action) {
    case 'PATCH policies':
      return { kind: 'policy', policyId: id, terms: decodePolicyBody(body), ...envelope }
    case 'PATCH key_quorums':
      return { kind: 'owners', quorumId: id, publicKeys: decodeOwners(body), ...envelope }
    case 'PATCH wallets':
      return { kind: 'signers', walletId: id, slots: decodeSigners(body), ...envelope }
    case 'POST wallets/rpc':
      return { walletId: id, ...decodeCall(body, hasIdempotencyKey(request['headers'])), ...envelope }
    default:
      throw unknown('the address')
  }
}

function decodeHeaders(value: Json | undefined): { appId: string; expiresAt: Date } {
  const headers = readMembers(value, 'the headers', {
    required: ['privy-app-id', 'privy-request-expiry'],
    optional: ['privy-idempotency-key'],
  })
  const expiry = readText(headers['privy-request-expiry'], 'the expiry')
  if (!MILLISECONDS_PATTERN.test(expiry)) throw unknown('the expiry')
  const key = headers['privy-idempotency-key']
  if (key !== undefined && !IDEMPOTENCY_KEY_PATTERN.test(readText(key, 'the idempotency key'))) {
    throw unknown('the idempotency key')
  }
  return { appId: readText(headers['privy-app-id'], 'the application'), expiresAt: new Date(Number(expiry)) }
}

function hasIdempotencyKey(headers: Json | undefined): boolean {
  return typeof headers === 'object' && headers !== null && Object.hasOwn(headers, 'privy-idempotency-key')
}

function decodePolicyBody(value: Json | undefined): RuleTerms | null {
  return decodeRules(readMembers(value, 'the body', { required: ['rules'] })['rules'])
}

function decodeOwners(value: Json | undefined): readonly string[] {
  const body = readMembers(value, 'the body', {
    required: ['public_keys', 'authorization_threshold'],
    optional: ['display_name'],
  })
  // With a higher threshold, one passkey alone could no longer sign.
  expect(body['authorization_threshold'], 1, 'the number of signatures that are needed')
  if (body['display_name'] !== undefined) readText(body['display_name'], 'the name of the owners')
  const keys = readList(body['public_keys'], 'the passkeys').map((key) => readText(key, 'a passkey'))
  if (keys.length === 0 || new Set(keys).size !== keys.length) throw unknown('the passkeys')
  if (!keys.every((key) => PUBLIC_KEY_PATTERN.test(key))) throw unknown('a passkey')
  return keys
}

/** Refuses a request that also changes the owner, because an owner's id does not show who the owner is. */
function decodeSigners(value: Json | undefined): readonly Slot[] {
  const body = readMembers(value, 'the body', { required: ['additional_signers'] })
  const slots = readList(body['additional_signers'], 'the signers').map((entry) => {
    const signer = readMembers(entry, 'a signer', { required: ['signer_id', 'override_policy_ids'] })
    const policies = readList(signer['override_policy_ids'], 'the policies of a signer')
    // A signer without a policy may do anything.
    if (policies.length !== 1) throw unknown('a signer that does not have exactly one policy')
    return { signerId: readId(signer['signer_id'], 'a signer'), policyId: readId(policies[0], 'a policy') }
  })
  if (new Set(slots.map(({ signerId }) => signerId)).size !== slots.length) throw unknown('a signer that occurs twice')
  return slots
}

/**
 * Decodes a call of the wallet. A transfer needs an idempotency key: the enclave executes a signed request again each
 * time that it is sent, but only once for each key.
 */
function decodeCall(
  body: Json | undefined,
  isDoneOnce: boolean,
): { kind: 'transfer'; transfer: Transfer } | { kind: 'authorization'; authorization: TransferAuthorization } {
  const method = typeof body === 'object' && body !== null && 'method' in body ? body['method'] : undefined
  if (method === 'eth_sendTransaction') {
    if (!isDoneOnce) {
      throw new Refusal(
        'request_unknown',
        'The transfer could be repeated without asking you again, so this page signs nothing.',
      )
    }
    return { kind: 'transfer', transfer: decodeTransfer(body) }
  }
  if (method === 'eth_signTypedData_v4') return { kind: 'authorization', authorization: decodeTypedData(body) }
  throw unknown('the method')
}
