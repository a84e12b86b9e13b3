import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { EnclaveContext } from './context.ts'
import { invalidData, notFound } from './errors.ts'
import { resolveOwnerId } from './quorums.ts'
import type { SignerRecord, WalletRecord } from './records.ts'
import { createResourceId } from './resource-id.ts'
import type { CreateWalletBody, UpdateWalletBody } from './schemas.ts'
import type { Store } from './store.ts'

/** Creates a wallet with a new secp256k1 key, which never leaves the enclave. */
export function createWallet(context: EnclaveContext, body: CreateWalletBody): WalletRecord {
  const { store, vault, clock, readLag } = context
  checkReferences(store, body)
  const privateKey = generatePrivateKey()
  const id = createResourceId()
  const wallet: WalletRecord = {
    id,
    address: privateKeyToAddress(privateKey),
    chain_type: 'ethereum',
    policy_ids: body.policy_ids ?? [],
    additional_signers: body.additional_signers ?? [],
    owner_id: resolveOwnerId(context, body) ?? null,
    created_at: clock.nowMs(),
    exported_at: null,
    imported_at: null,
    archived_at: null,
    ...pickNames(body),
  }
  store.addWallet(wallet, vault.seal(id, privateKey))
  readLag.remember(id, null)
  return wallet
}

export function getWallet(store: Store, id: string): WalletRecord {
  const wallet = store.findWallet(id)
  if (wallet === null) throw notFound('Wallet')
  return wallet
}

/** Changes the members that the body names. `additional_signers` replaces the whole list. */
export function updateWallet(context: EnclaveContext, wallet: WalletRecord, body: UpdateWalletBody): WalletRecord {
  const { store, readLag } = context
  if (body.external_id !== undefined && wallet.external_id !== undefined) {
    throw invalidData('external_id can be set only once')
  }
  checkReferences(store, body)
  const ownerId = resolveOwnerId(context, body)
  const updated: WalletRecord = {
    ...wallet,
    policy_ids: body.policy_ids ?? wallet.policy_ids,
    additional_signers: body.additional_signers ?? wallet.additional_signers,
    owner_id: ownerId === undefined ? wallet.owner_id : ownerId,
    ...pickNames(body),
  }
  store.updateWallet(updated)
  readLag.remember(wallet.id, wallet)
  return updated
}

/** Returns the policies that bind a signer: its own ones if it has any, otherwise those of the wallet. */
export function listSignerPolicies(wallet: WalletRecord, signer: SignerRecord): readonly string[] {
  const overrides = signer.override_policy_ids ?? []
  return overrides.length > 0 ? overrides : wallet.policy_ids
}

function pickNames(body: UpdateWalletBody): Pick<WalletRecord, 'display_name' | 'external_id'> {
  return {
    ...(body.display_name === undefined ? {} : { display_name: body.display_name }),
    ...(body.external_id === undefined ? {} : { external_id: body.external_id }),
  }
}

/**
 * Checks that everything that a wallet refers to exists. The chain type of a policy needs no check, because this
 * enclave has only one chain type.
 */
function checkReferences(store: Store, { policy_ids, additional_signers, external_id }: UpdateWalletBody): void {
  const signers = additional_signers ?? []
  const unknownSigner = signers.find((signer) => store.findQuorum(signer.signer_id) === null)
  if (unknownSigner !== undefined) throw invalidData(`Signer not found: ${unknownSigner.signer_id}`)
  if (new Set(signers.map((signer) => signer.signer_id)).size !== signers.length) {
    throw invalidData('A signer may occur only once')
  }
  const policies = [...(policy_ids ?? []), ...signers.flatMap((signer) => signer.override_policy_ids ?? [])]
  const unknownPolicy = policies.find((id) => store.findPolicy(id) === null)
  if (unknownPolicy !== undefined) throw invalidData(`Policy not found: ${unknownPolicy}`)
  if (external_id !== undefined && store.isExternalIdTaken(external_id)) throw invalidData('external_id must be unique')
}
