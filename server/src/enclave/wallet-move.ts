import { buildRequest, checkId, type BuiltRequest, type EnclaveAddress } from './signable-request.ts'

/** A signer of a wallet, and the policies that limit it. */
export type WalletSigner = { readonly signerId: string; readonly policyIds: readonly string[] }

/** The change that gives a wallet other owners and other signers, in one request. */
export type WalletMove = {
  readonly enclaveWalletId: string
  readonly ownerQuorumId: string
  /** The complete new list. The enclave replaces the old one. */
  readonly signers: readonly WalletSigner[]
  readonly expiresAt: Date
}

export type WalletMoveBody = { readonly owner_id: string; readonly additional_signers: AdditionalSigner[] }

export type AdditionalSigner = { readonly signer_id: string; readonly override_policy_ids: string[] }

/**
 * Builds the request that the current owner signs to move the wallet. @throws TypeError for malformed ids and signers.
 */
export function buildWalletMove(
  enclave: EnclaveAddress,
  { enclaveWalletId, ownerQuorumId, signers, expiresAt }: WalletMove,
): BuiltRequest<WalletMoveBody> {
  const body = { owner_id: checkId(ownerQuorumId), additional_signers: signers.map(toAdditionalSigner) }
  return buildRequest(enclave, { path: ['wallets', enclaveWalletId], body, expiresAt })
}

/**
 * @throws TypeError for a signer that does not have exactly one policy, because the enclave might not limit it at all.
 */
export function toAdditionalSigner({ signerId, policyIds }: WalletSigner): AdditionalSigner {
  if (policyIds.length !== 1) throw new TypeError('a signer must have exactly one policy')
  return { signer_id: checkId(signerId), override_policy_ids: policyIds.map(checkId) }
}

/** Returns whether two lists have the same signers, each under the same policies. The order does not matter. */
export function sameSigners(left: readonly WalletSigner[], right: readonly WalletSigner[]): boolean {
  const text = (signers: readonly WalletSigner[]): string =>
    JSON.stringify(signers.map((signer) => [signer.signerId, ...signer.policyIds].join(' ')).toSorted())
  return text(left) === text(right)
}
