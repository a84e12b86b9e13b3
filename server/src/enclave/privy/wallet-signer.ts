import { checkId } from './signable-request.ts'

/** A signer of a wallet, and the policies that limit it. */
export type WalletSigner = { readonly signerId: string; readonly policyIds: readonly string[] }

type AdditionalSigner = { readonly signer_id: string; readonly override_policy_ids: string[] }

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
