import type { Address } from '../../values/address.ts'
import type { AgentId } from '../../values/agent-id.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'
import type { TransferAuthorization } from '../../values/transfer-authorization.ts'
import type { Query } from '../../db/query.ts'
import type { PurchasePayment } from '../payments/payment.ts'

/** A request for a payment. It combines the fields of the request's body with facts about the caller's credential. */
export interface PaymentRequest extends PaymentCredential {
  readonly workspaceId: string
  readonly mode: Mode
  readonly agentId: AgentId
  readonly wallet: Address
  readonly to: Address
  readonly amountMicro: MicroUsdc
  /** The amount as the caller wrote it. Responses repeat it unchanged (D19). */
  readonly amountUsdc: string
  readonly memo: string | null
  readonly idempotencyKey: string | null
  /** `x402` for a purchase. If missing, the payment is a transfer. */
  readonly kind?: 'transfer' | 'x402'
  /** What is stored with the payment if it is a purchase. Missing in a preview, which stores nothing. */
  readonly purchase?: NewPurchase
  /** True once the idempotency key was looked up outside the database, and no payment was found (D96). */
  readonly isLookedUp?: boolean
}

/** What a purchase adds to its payment, in the transaction that reserves the amount (D66). */
export interface NewPurchase {
  /**
   * The nonce of the authorization, which is derived from the idempotency key. Null if the seller chose it (MPP), so
   * that the same key would have another nonce next time (D96).
   */
  readonly derivedNonce: `0x${string}` | null
  /**
   * Makes the authorization. The enclave will sign it, and nothing else for this purchase. Throws if too little time is
   * left for the authorization; then nothing is reserved.
   */
  authorize(at: { readonly now: Date; readonly grantExpiresAt: Date | null }): TransferAuthorization
  /** How much room the seller's response may need in the budget of the workspace (D93). 0 if none is kept. */
  readonly answerBytes: number
  /**
   * Returns the statements that store the purchase, after its payment was inserted. `reservedBytes` is the room that
   * the transaction reserves for the response.
   */
  store(
    payment: PurchasePayment,
    signed: { readonly authorization: TransferAuthorization; readonly reservedBytes: number },
  ): readonly Query<unknown>[]
}

/**
 * Facts about the HTTP request and its credential. All fields are required, so no part of the service can forget to
 * state what the credential may do.
 */
export interface PaymentCredential {
  /** The id of the API key or of the OAuth connection. */
  readonly credentialId: string | null
  /**
   * The only agent that the credential may pay as. Null if the credential may pay as any agent of the workspace (D25).
   */
  readonly boundAgentId: string | null
  /** The id of the HTTP request, which its client has in the header `Request-Id`. */
  readonly requestId: string | null
}

/**
 * Returns whether a credential may pay as this agent. An OAuth connection may pay only as the agent that the person
 * chose when they gave consent. An API key that is bound to an agent may pay only as that agent (D56). Every other API
 * key may pay as any agent of its workspace (D25).
 */
export function mayPayAs({ boundAgentId }: Pick<PaymentCredential, 'boundAgentId'>, agentId: string): boolean {
  return boundAgentId === null || boundAgentId === agentId
}
