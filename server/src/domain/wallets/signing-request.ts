import type { SlotRules } from '../../enclave/enclave.ts'

/** What an owner is asked to sign on the signer page, and until when. */
export interface SigningRequest {
  /** The exact enclave request in canonical JSON (RFC 8785; D15). It is the WebAuthn challenge. */
  readonly payload: Uint8Array
  readonly expiresAt: Date
  /** The wallet passkeys that may sign the request. */
  readonly credentials: readonly OwnerCredential[]
  /** The rules that the request replaces; null for a request that changes no rules. */
  readonly before: SlotRules | null
}

export interface OwnerCredential {
  readonly id: string
  /** Base64 SPKI DER. */
  readonly publicKey: string
  readonly name: string
}
