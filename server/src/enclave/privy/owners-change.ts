import { buildRequest, type BuiltRequest, type EnclaveAddress } from './signable-request.ts'

/** A change to a quorum's members. A current member signs the change. Afterwards, each member may sign alone. */
export type OwnersChange = {
  readonly quorumId: string
  /** All members after the change, as base64 SPKI DER of P-256 keys. */
  readonly publicKeys: readonly string[]
  readonly expiresAt: Date
}

export type OwnersChangeBody = { readonly public_keys: string[]; readonly authorization_threshold: 1 }

/** @throws TypeError if there is no member, because nobody could ever change such a quorum. */
export function buildOwnersChange(
  enclave: EnclaveAddress,
  { quorumId, publicKeys, expiresAt }: OwnersChange,
): BuiltRequest<OwnersChangeBody> {
  if (publicKeys.length === 0) throw new TypeError('a quorum needs a member')
  const body: OwnersChangeBody = { public_keys: [...publicKeys], authorization_threshold: 1 }
  return buildRequest(enclave, { path: ['key_quorums', quorumId], body, expiresAt })
}
