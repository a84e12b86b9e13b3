import type { Wallet } from '@privy-io/node'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import { parseAddress, type Address } from '../values/address.ts'
import { createEnclaveClient, type EnclaveOptions } from './enclave-client.ts'
import { EnclaveRefused } from './errors.ts'
import { malformedResponse } from './failure.ts'
import { buildPolicyRules, type PolicyRule, type PolicyTerms } from './policy-rules.ts'
import { sendTransfer, type TransferOrder } from './send-transfer.ts'
import {
  buildSignerChange,
  formatAssertion,
  type OwnerAssertion,
  type SignerChange,
  type WalletSigner,
} from './signer-change.ts'
import { generateSignerKey } from './signer-key.ts'
import { awaitTxHash, findTransfer } from './transactions.ts'

export type Enclave = ReturnType<typeof openEnclave>

export type EnclaveWallet = {
  readonly address: Address
  readonly ownerQuorumId: string
  readonly signers: readonly WalletSigner[]
}

/** The provider's limit for names of policies and signers. Wallets may have longer names, but do not need them. */
const NAME_CHARS_MAX = 50
/** A well-formed id that no wallet has. */
const ABSENT_WALLET_ID = 'c00000000000000000000000'

/**
 * The only connection to the enclave: wallets, signers, policies and transfers, by the provider's SDK. Every call is one
 * request. `sendTransfer` returns one of four outcomes. Every other call throws `EnclaveRefused` if certainly nothing was
 * done, and `EnclaveUnavailable` if that is unknown. @throws TypeError for an `apiUrl` that cannot be signed.
 */
export function openEnclave(options: EnclaveOptions, { clock, logger }: { clock: Clock; logger: Logger }) {
  const client = createEnclaveClient(options, { clock, logger })
  const { sdk, call } = client

  /** Creates a wallet that the passkey owns. `ownerPublicKey` is base64 SPKI DER of a P-256 key. */
  async function createWallet({
    ownerPublicKey,
    name,
    idempotencyKey,
  }: {
    ownerPublicKey: string
    name: string
    idempotencyKey: string
  }): Promise<{ enclaveWalletId: string; address: Address; ownerQuorumId: string }> {
    const operation = 'creating a wallet'
    const wallet = await call(operation, async () =>
      sdk.wallets().create({
        chain_type: 'ethereum',
        owner: { public_key: ownerPublicKey },
        display_name: cutName(name),
        idempotency_key: idempotencyKey,
      }),
    )
    const { address, ownerQuorumId } = toWallet(operation, wallet)
    return { enclaveWalletId: readId(operation, wallet), address, ownerQuorumId }
  }

  /** Creates a signer with one key. It can sign for a wallet once the owner has allowed it. `publicKey` is base64 SPKI DER. */
  async function createSigner({ publicKey, name }: { publicKey: string; name: string }): Promise<{ signerId: string }> {
    const operation = 'creating a signer'
    const quorum = await call(operation, async () =>
      sdk.keyQuorums().create({ public_keys: [publicKey], authorization_threshold: 1, display_name: cutName(name) }),
    )
    return { signerId: readId(operation, quorum) }
  }

  /** Creates a policy that only the wallet's owner can change. It has no effect until a signer is put under it. */
  async function createPolicy({
    name,
    ownerQuorumId,
    terms,
    idempotencyKey,
  }: {
    name: string
    ownerQuorumId: string
    terms: PolicyTerms
    idempotencyKey: string
  }): Promise<{ policyId: string }> {
    const rules = buildPolicyRules(terms)
    const operation = 'creating a policy'
    const policy = await call(operation, async () =>
      sdk.policies().create({
        version: '1.0',
        name: cutName(name),
        chain_type: 'ethereum',
        owner_id: ownerQuorumId,
        rules,
        idempotency_key: idempotencyKey,
      }),
    )
    return { policyId: readId(operation, policy) }
  }

  /** Returns the rules that the enclave has stored, for `comparePolicy`, and who may change them. */
  async function readPolicy(policyId: string): Promise<{ rules: readonly PolicyRule[]; ownerId: string | null }> {
    const operation = 'reading a policy'
    const policy = await call(operation, async () => sdk.policies().get(policyId))
    if (readId(operation, policy) !== policyId || !Array.isArray(policy.rules)) {
      throw client.toError(operation, malformedResponse())
    }
    return { rules: policy.rules, ownerId: policy.owner_id }
  }

  async function readWallet(enclaveWalletId: string): Promise<EnclaveWallet> {
    const operation = 'reading a wallet'
    return toWallet(operation, await call(operation, async () => sdk.wallets().get(enclaveWalletId)))
  }

  /** Replaces the wallet's signers. The owner's passkey has signed exactly this request. */
  async function applySignerChange({
    assertion,
    ...change
  }: SignerChange & { assertion: OwnerAssertion }): Promise<EnclaveWallet> {
    const operation = "changing a wallet's signers"
    const { body } = buildSignerChange(client, change).request
    const signatures = [formatAssertion(assertion)]
    const wallet = await call(operation, async () =>
      sdk.wallets().update(change.enclaveWalletId, {
        additional_signers: body.additional_signers,
        request_expiry: change.expiresAt.getTime(),
        authorization_context: { signatures },
      }),
    )
    return toWallet(operation, wallet)
  }

  function toWallet(operation: string, wallet: Wallet): EnclaveWallet {
    readId(operation, wallet)
    const address = parseAddress(wallet.address)
    if (address === null || typeof wallet.owner_id !== 'string' || !Array.isArray(wallet.additional_signers)) {
      throw client.toError(operation, malformedResponse())
    }
    const signers = wallet.additional_signers.map((signer) => ({
      signerId: signer.signer_id,
      policyIds: signer.override_policy_ids ?? [],
    }))
    return { address, ownerQuorumId: wallet.owner_id, signers }
  }

  /** Checks the id, because the SDK returns any body with a successful status, even a proxy's page. */
  function readId(operation: string, resource: { id: string }): string {
    if (typeof resource?.id !== 'string') throw client.toError(operation, malformedResponse())
    return resource.id
  }

  /** For readiness: checks that the enclave responds and accepts our credentials. It then returns 404 for the wallet. */
  async function checkReachable(): Promise<void> {
    try {
      await client.getJson('checking the connection', `/v1/wallets/${ABSENT_WALLET_ID}`)
    } catch (error) {
      if (!(error instanceof EnclaveRefused && error.status === 404)) throw error
    }
  }

  return {
    createWallet,
    createSigner,
    generateSignerKey,
    createPolicy,
    readPolicy,
    readWallet,
    buildSignerChange: (change: SignerChange) => buildSignerChange(client, change),
    applySignerChange,
    sendTransfer: async (order: TransferOrder) => sendTransfer(client, order),
    awaitTxHash: async (transactionId: string, limit: { timeoutMs: number }) =>
      awaitTxHash(client, transactionId, limit),
    /** Expresses a time of our clock in the provider's clock, which judges when a signed request expires. */
    toEnclaveTime: client.clock.toEnclaveTime,
    findTransfer: async (referenceId: string) => findTransfer(client, referenceId),
    checkReachable,
    /** Closes the connections. Calls in progress fail. */
    close: client.close,
  }
}

/** Cuts at whole code points, so that no character is split (D17). */
function cutName(name: string): string {
  let cut = ''
  for (const character of name) {
    if (cut.length + character.length > NAME_CHARS_MAX) break
    cut += character
  }
  return cut
}
