import type { Query } from '../../db/query.ts'
import type { Transaction } from '../../db/transaction.ts'
import type { OwnerAssertion } from '../../enclave/enclave.ts'
import type { Actor } from '../audit/audit-entry.ts'

/** A change to a wallet's owners at the enclave. A single signature of a current owner authorizes it. */
export interface EnclaveChange {
  /** The exact request to the enclave, in canonical JSON (RFC 8785). It is the WebAuthn challenge. */
  readonly challenge: Uint8Array
  /** Throws 400 `signature_invalid` if this passkey must not sign the request, although it owns the wallet. */
  checkSigner(credentialId: string): void
  /** Reads from the enclave whether the change was made. Everything that the owner signed is compared. */
  readState(): Promise<ChangeState>
  /** Reads whether our own record is already as the owner signed it, because another request made the same change. */
  isRecorded(): Promise<boolean>
  /** Sends the signed request. */
  apply(assertion: OwnerAssertion): Promise<void>
  /**
   * Runs before the signed request is sent, in the transaction that records who submits it. Throws if the change is no
   * longer possible.
   */
  prepare(transaction: Transaction): Promise<void>
  /** Records the change and its audit entries: runs some queries in the transaction, and returns the remaining ones. */
  record(transaction: Transaction, by: { now: Date; actor: Actor }): Promise<readonly Query<unknown>[]>
}

/**
 * Whether the enclave's record is as it was before the change, or as the owner signed it. `other`: something else has
 * changed it.
 */
export type ChangeState = 'before' | 'after' | 'other'
