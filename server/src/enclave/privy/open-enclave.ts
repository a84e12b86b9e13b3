import type { KeyQuorum, Policy, Wallet } from '@privy-io/node'
import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/logger.ts'
import { parseAddress, type Address } from '../../values/address.ts'
import { createPatiently } from './create-patiently.ts'
import { createCreationQueue } from './creation-queue.ts'
import { createEnclaveClient, type EnclaveOptions } from './enclave-client.ts'
import { EnclaveRefused } from '../errors.ts'
import { malformedResponse } from './failure.ts'
import { normalizePublicKey } from './normalize-public-key.ts'
import { buildOwnersChange, type OwnersChange } from './owners-change.ts'
import { buildPolicyChange, type PolicyChange } from './policy-change.ts'
import type { PolicyRule } from './policy-rules.ts'
import {
  buildOwnerTransfer,
  sendOwnerTransfer,
  sendTransfer,
  type OwnerTransfer,
  type TransferOrder,
} from './send-transfer.ts'
import { signAuthorization, type AuthorizationOrder } from './sign-authorization.ts'
import { formatAssertion, type OwnerAssertion } from './signable-request.ts'
import { generateSignerKey } from './signer-key.ts'
import { awaitTxHash, findTransfer, parseEnclaveId } from './transactions.ts'
import { toAdditionalSigner, type WalletSigner } from './wallet-signer.ts'

export type Enclave = ReturnType<typeof openEnclave>

export type EnclaveWallet = {
  readonly address: Address
  readonly ownerQuorumId: string
  readonly signers: readonly WalletSigner[]
}

/** The enclave's limit for names of policies and signers. Wallets may have longer names, but we use the same limit. */
const NAME_CHARS_MAX = 50
/** A well-formed id that no wallet has. */
const ABSENT_WALLET_ID = 'c00000000000000000000000'

/** A policy's rules, which `comparePolicy` compares, and the quorum that may change them. */
export type EnclavePolicy = { readonly rules: readonly PolicyRule[]; readonly ownerId: string | null }

/**
 * The only connection to the enclave: wallets, signers, policies and transfers, with the provider's SDK. Every call is
 * one request, except that a creation waits for its turn, and is repeated while the provider's rate limit rejects it.
 * `sendTransfer` and `signAuthorization` return one of four outcomes. Every other call throws `EnclaveRefused` if
 * certainly nothing was done, and `EnclaveUnavailable` if it is unknown whether something was done. @throws TypeError
 * for an `apiUrl` that cannot be signed.
 */
export function openEnclave(options: EnclaveOptions, { clock, logger }: { clock: Clock; logger: Logger }) {
  const client = createEnclaveClient(options, { clock, logger })
  const { sdk, call } = client
  const creations = createCreationQueue()

  /**
   * Creates a wallet that the quorum owns, with all the signers that it will ever have. Nobody has to sign this, so
   * every signer must be under a policy that the quorum owns and that denies everything.
   */
  async function createWallet({
    ownerQuorumId,
    signers,
    name,
    idempotencyKey,
  }: {
    ownerQuorumId: string
    signers: readonly WalletSigner[]
    name: string
    idempotencyKey: string
  }): Promise<EnclaveWallet & { readonly enclaveWalletId: string }> {
    const operation = 'creating a wallet'
    const additional_signers = signers.map(toAdditionalSigner)
    const wallet = await create(operation, async (tries) =>
      sdk.wallets().create({
        chain_type: 'ethereum',
        owner_id: ownerQuorumId,
        additional_signers,
        display_name: cutName(name),
        idempotency_key: keyOfTry(idempotencyKey, tries),
      }),
    )
    return { ...toWallet(operation, wallet), enclaveWalletId: readId(operation, wallet) }
  }

  /**
   * Creates a quorum of keys, any one of which may sign: the owners of a wallet, or the one key of a signer. Each key
   * is base64 SPKI DER of a P-256 key.
   */
  async function createQuorum({ publicKeys, name }: { publicKeys: readonly string[]; name: string }): Promise<string> {
    const operation = 'creating a key quorum'
    const body = { public_keys: [...publicKeys], authorization_threshold: 1, display_name: cutName(name) }
    const quorum = await create(operation, async () => sdk.keyQuorums().create(body))
    return readId(operation, quorum)
  }

  /** Creates a policy without rules, which denies everything. Only its owner can give it rules. */
  async function createPolicy({
    name,
    ownerQuorumId,
    idempotencyKey,
  }: {
    name: string
    ownerQuorumId: string
    idempotencyKey: string
  }): Promise<string> {
    const operation = 'creating a policy'
    const policy = await create(operation, async (tries) =>
      sdk.policies().create({
        version: '1.0',
        name: cutName(name),
        chain_type: 'ethereum',
        owner_id: ownerQuorumId,
        rules: [],
        idempotency_key: keyOfTry(idempotencyKey, tries),
      }),
    )
    return readId(operation, policy)
  }

  async function create<Result>(operation: string, work: (tries: number) => Promise<Result>): Promise<Result> {
    return await call(operation, async () => creations.run(async () => createPatiently(work)))
  }

  async function readPolicy(policyId: string): Promise<EnclavePolicy> {
    const operation = 'reading a policy'
    return toPolicy(operation, policyId, await call(operation, async () => sdk.policies().get(policyId)))
  }

  /** Replaces a policy's rules. The owner's passkey has signed exactly this request. */
  async function applyPolicyChange({
    assertion,
    ...change
  }: PolicyChange & { assertion: OwnerAssertion }): Promise<EnclavePolicy> {
    const operation = "changing a policy's rules"
    const { body } = buildPolicyChange(client, change).request
    const signed = signedBy(assertion, change)
    const policy = await call(operation, async () => sdk.policies().update(change.policyId, { ...body, ...signed }))
    return toPolicy(operation, change.policyId, policy)
  }

  function toPolicy(operation: string, policyId: string, policy: Policy): EnclavePolicy {
    if (readId(operation, policy) !== policyId || !Array.isArray(policy.rules)) {
      throw client.toError(operation, malformedResponse())
    }
    return { rules: policy.rules, ownerId: policy.owner_id }
  }

  /** Returns the public keys of a quorum's members, as base64 SPKI DER whatever form the enclave returns. */
  async function readQuorum(quorumId: string): Promise<readonly string[]> {
    const operation = 'reading a key quorum'
    return toMembers(operation, quorumId, await call(operation, async () => sdk.keyQuorums().get(quorumId)))
  }

  /** Replaces a quorum's members, and returns them. The passkey of a current member has signed exactly this request. */
  async function applyOwnersChange({
    assertion,
    ...change
  }: OwnersChange & { assertion: OwnerAssertion }): Promise<readonly string[]> {
    const operation = "changing a wallet's owners"
    const { body } = buildOwnersChange(client, change).request
    const signed = signedBy(assertion, change)
    const quorum = await call(operation, async () => sdk.keyQuorums().update(change.quorumId, { ...body, ...signed }))
    return toMembers(operation, change.quorumId, quorum)
  }

  function toMembers(operation: string, quorumId: string, quorum: KeyQuorum): readonly string[] {
    if (readId(operation, quorum) !== quorumId || !Array.isArray(quorum.authorization_keys)) {
      throw client.toError(operation, malformedResponse())
    }
    return quorum.authorization_keys.map((member) => normalizePublicKey(member.public_key))
  }

  async function readWallet(enclaveWalletId: string): Promise<EnclaveWallet> {
    const operation = 'reading a wallet'
    return toWallet(operation, await call(operation, async () => sdk.wallets().get(enclaveWalletId)))
  }

  /** Returns the expiry and the signature that are sent with a request that an owner has signed. */
  function signedBy(assertion: OwnerAssertion, { expiresAt }: { expiresAt: Date }) {
    return { request_expiry: expiresAt.getTime(), authorization_context: { signatures: [formatAssertion(assertion)] } }
  }

  function toWallet(operation: string, wallet: Wallet): EnclaveWallet {
    readId(operation, wallet)
    const address = parseAddress(wallet.address)
    const ownerQuorumId = parseEnclaveId(wallet.owner_id)
    if (address === null || ownerQuorumId === null || !Array.isArray(wallet.additional_signers)) {
      throw client.toError(operation, malformedResponse())
    }
    const signers = wallet.additional_signers.map((signer) => ({
      signerId: signer.signer_id,
      policyIds: signer.override_policy_ids ?? [],
    }))
    return { address, ownerQuorumId, signers }
  }

  /** Checks that the response has an id. The SDK returns any body with a successful status, even a proxy's page. */
  function readId(operation: string, resource: { id: string }): string {
    const id = parseEnclaveId(resource?.id)
    if (id === null) throw client.toError(operation, malformedResponse())
    return id
  }

  /**
   * Checks, for the readiness endpoint, that the enclave responds and accepts our credentials. If so, the
   * enclave returns 404 for a wallet that does not exist.
   */
  async function checkReachable(): Promise<void> {
    try {
      await client.getJson('checking the connection', `/v1/wallets/${ABSENT_WALLET_ID}`)
    } catch (error) {
      if (!(error instanceof EnclaveRefused && error.status === 404)) throw error
    }
  }

  return {
    /** The enclave's address, and the id of our app at the enclave. Both are part of every signed request. */
    apiUrl: client.apiUrl,
    appId: client.appId,
    createQuorum,
    generateSignerKey,
    createPolicy,
    createWallet,
    readPolicy,
    readQuorum,
    readWallet,
    buildPolicyChange: (change: PolicyChange) => buildPolicyChange(client, change),
    applyPolicyChange,
    buildOwnersChange: (change: OwnersChange) => buildOwnersChange(client, change),
    applyOwnersChange,
    sendTransfer: async (order: TransferOrder) => sendTransfer(client, order),
    signAuthorization: async (order: AuthorizationOrder) => signAuthorization(client, order),
    buildOwnerTransfer: (order: OwnerTransfer) => buildOwnerTransfer(client, order),
    sendOwnerTransfer: async (order: OwnerTransfer & { assertion: OwnerAssertion }) => sendOwnerTransfer(client, order),
    awaitTxHash: async (transactionId: string, limit: { timeoutMs: number }) =>
      awaitTxHash(client, transactionId, limit),
    /** Converts a time of our clock to the enclave's clock, which decides when a signed request expires. */
    toEnclaveTime: client.clock.toEnclaveTime,
    findTransfer: async (referenceId: string) => findTransfer(client, referenceId),
    checkReachable,
    /** Closes the connections, so that calls in progress fail. */
    close: client.close,
  }
}

/**
 * If the provider has received an idempotency key before, it may return its stored response, even a 429. So each try
 * has another key.
 */
function keyOfTry(idempotencyKey: string, tries: number): string {
  return tries === 1 ? idempotencyKey : `${idempotencyKey}-${tries}`
}

/** Cuts a name that is too long, without splitting a Unicode code point (D17). */
function cutName(name: string): string {
  let cut = ''
  for (const character of name) {
    if (cut.length + character.length > NAME_CHARS_MAX) break
    cut += character
  }
  return cut
}
