import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'

export type TxHash = `0x${string}`
export type Hex = `0x${string}`

/**
 * A transfer is a payment that an agent requested under a grant. A payment of kind `x402` is a purchase: it pays for an
 * HTTP resource, by a signed authorization (EIP-3009) that the seller submits to the chain (D66). A withdrawal is a
 * transfer that an owner of the wallet signed themselves (D62). It has no agent and no grant, and no limits apply to
 * it. `/v1` shows it in the ledger only (D53). It reserves balance, is settled and is looked up like the transfer of an
 * agent.
 */
export const PAYMENT_KINDS = ['transfer', 'withdrawal', 'x402'] as const

export type PaymentKind = (typeof PAYMENT_KINDS)[number]

/**
 * A payment begins as a reservation: it is `pending`, has no transaction hash, and counts towards every limit before
 * the enclave is called (D22). After that, each of these steps can happen at most once, whichever process notices it
 * first:
 *
 * - The enclave accepts the payment. The payment stays `pending` and gets the enclave's own id, and later `tx_hash`
 *   once the hash is known.
 * - The enclave refuses the payment. The payment becomes `failed` and no longer counts towards any limit.
 * - The enclave never received the payment, and the send window is over. The payment becomes `failed` and no longer
 *   counts towards any limit.
 * - The chain proves the transfer at the configured depth. The payment becomes `confirmed` by one Transfer log, which
 *   settles no other payment.
 * - The chain proves that the transfer did not happen and can no longer happen. The payment becomes `failed`. Its
 *   amount no longer counts towards the daily cap and no longer reserves balance.
 *
 * Only proof on the chain ends a payment that was signed (D24a). A report of the enclave (`failed`, "pending for too
 * long") proves nothing, because a signed transfer can still land later. Such a payment stays `pending`, with a reason
 * that people can see. There is one exception: if the enclave reports a revert without a transaction hash, the payment
 * fails, because then we have nothing to look for on the chain (`reconcile-payment.ts`).
 *
 * If a receipt is not deep enough yet, its block is recorded as `minedBlock`. The block is removed again if a
 * reorganization drops it from the chain. `confirmed` and `failed` are final. The table below lists every move. Only
 * `movePayment` in the store moves a payment. It reads the allowed statuses from this table, and the constraints of the
 * database table `payments` agree with it.
 */
export const PAYMENT_MOVES = {
  accept: { from: 'pending', to: 'pending' },
  note: { from: 'pending', to: 'pending' },
  confirm: { from: 'pending', to: 'confirmed' },
  fail: { from: 'pending', to: 'failed' },
} as const satisfies Record<string, { from: PaymentStatus; to: PaymentStatus }>

export type PaymentMove = keyof typeof PAYMENT_MOVES

export const PAYMENT_STATUSES = ['pending', 'confirmed', 'failed'] as const

export type PaymentStatus = (typeof PAYMENT_STATUSES)[number]

/**
 * Why a payment failed:
 * - `enclave_refused`: the enclave refused to sign the payment.
 * - `never_received`: the enclave never received the payment, and the send window is over.
 * - `reverted`: the transaction or user operation was mined, but it was reverted.
 * - `transfer_missing`: the transaction was mined, but does not contain this payment's transfer.
 * - `replaced`: another transaction of the wallet used the nonce of this payment's transaction.
 * - `authorization_expired`: the authorization of a purchase was not used on the chain, and no longer can be.
 * - `authorization_canceled`: the authorization of a purchase was canceled on the chain.
 */
export const FAILURE_CODES = [
  'enclave_refused',
  'never_received',
  'reverted',
  'transfer_missing',
  'replaced',
  'authorization_expired',
  'authorization_canceled',
] as const

export type FailureCode = (typeof FAILURE_CODES)[number]

/**
 * Why a payment is still pending, for the cases that need attention:
 * - `not_sent`: the enclave did not send the payment, for a reason that the operator can find in the log. A retry may
 *   succeed.
 * - `outcome_unknown`: the enclave's response was lost, or does not show the outcome. The reconciler looks the payment
 *   up.
 * - `hash_unknown`: the enclave accepted the payment, but has not reported a transaction hash yet.
 * - `reported_failed`, `reported_replaced`, `reported_reverted`: the enclave reported this outcome, but the chain has
 *   not proven it.
 * - `transfer_not_found`: the transaction that the enclave names does not contain this payment's transfer.
 */
export const PENDING_REASONS = [
  'not_sent',
  'outcome_unknown',
  'hash_unknown',
  'reported_failed',
  'reported_replaced',
  'reported_reverted',
  'transfer_not_found',
] as const

export type PendingReason = (typeof PENDING_REASONS)[number]

export type Payment = AgentPayment | WithdrawalPayment

/** A payment that an agent requested. */
export type AgentPayment = TransferPayment | PurchasePayment

export interface TransferPayment extends OfAgent {
  readonly kind: 'transfer'
  readonly authorization: null
}

export interface PurchasePayment extends OfAgent {
  readonly kind: 'x402'
  /** What the enclave signs. */
  readonly authorization: PaymentAuthorization
}

export interface WithdrawalPayment extends OfAnyKind {
  readonly kind: 'withdrawal'
  readonly agentId: null
  readonly grantId: null
  readonly authorization: null
}

interface OfAgent extends OfAnyKind {
  readonly agentId: string
  readonly grantId: string
}

interface OfAnyKind {
  readonly id: string
  readonly workspaceId: string
  readonly mode: Mode
  readonly walletAddress: Address
  readonly to: Address
  readonly amountMicro: MicroUsdc
  /** The amount as the caller wrote it. Responses repeat it unchanged (D19). */
  readonly amountUsdc: string
  readonly memo: string | null
  readonly idempotencyKey: string | null
  /** The id of the API key or OAuth connection that requested the payment. Null for a withdrawal. */
  readonly credentialId: string | null
  /**
   * The id of the HTTP request that created the payment. Null for a withdrawal, which the audit log has, and for payments
   * that were created before this was stored.
   */
  readonly requestId: string | null
  readonly status: PaymentStatus
  readonly failureCode: FailureCode | null
  readonly txHash: TxHash | null
  readonly createdAt: Date
  /** When the enclave accepted the payment, by our clock. */
  readonly acceptedAt: Date | null
  /** When the payment was confirmed or failed. */
  readonly settledAt: Date | null
  readonly allowanceMonth: string | null
  /** The number of the last attempt: one attempt is one call that asks the enclave to send the payment. */
  readonly attempt: number
  /**
   * When the claim on the current attempt ends. Until then, no other process may start an attempt. Null if nobody has a
   * claim.
   */
  readonly attemptUntil: Date | null
  /**
   * When the signed request of the current attempt expires, by the enclave's clock. Null before the request is ready to
   * send, and after the attempt has ended.
   */
  readonly requestExpiresAt: Date | null
  /**
   * The fence: the time, by the enclave's clock, until which a request without a response may still arrive at the
   * enclave. No other request is sent before then.
   */
  readonly fencedUntil: Date | null
  readonly enclaveTransactionId: string | null
  /**
   * The hash of the user operation that contains the transfer. Null while unknown, and if the transfer is a plain
   * transaction.
   */
  readonly userOperationHash: TxHash | null
  /** The nonce of the plain transaction that contains the transfer. Null while unknown. */
  readonly senderNonce: bigint | null
  readonly pendingReason: PendingReason | null
  /** The number of the newest block before the payment was recorded. Without it, the payment cannot be searched for. */
  readonly firstBlock: bigint | null
  /** The last block that we searched for the payment's transfer. */
  readonly searchedBlock: bigint | null
  /** How many times the payment was looked up, at the enclave and on the chain. */
  readonly lookups: number
  /** The position, within its block, of the Transfer log that settled the payment. */
  readonly logIndex: bigint | null
  readonly minedBlock: bigint | null
  readonly minedBlockHash: string | null
  /** What the wallet paid for the gas of the transaction, in wei. Null if it paid none, and until the payment ended. */
  readonly gasWei: bigint | null
}

/** The fields of an EIP-3009 authorization that are not fields of its payment. The nonce never changes (D66). */
export interface PaymentAuthorization {
  /** 32 bytes, in lower-case hexadecimal digits. */
  readonly nonce: Hex
  /** The authorization can only be used in a block whose time is before this. Whole seconds. */
  readonly validBefore: Date
}

/**
 * The limits that applied when an agent's payment was reserved, and what was spent by then. They are stored with the
 * payment.
 */
export interface Admission {
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
  readonly spent24hMicro: MicroUsdc
}

/** Returns how a line of the log names a payment, with the request that created it. */
export function nameInLog({ id, requestId }: Pick<Payment, 'id' | 'requestId'>) {
  return { payment: id, request: requestId ?? undefined }
}

/**
 * Returns true if no request of any attempt can still arrive at the enclave. `providerNow` is the time of the enclave's
 * clock, so an error of our own clock never ends the fence early.
 */
export function isFenceOver(
  { fencedUntil, requestExpiresAt, attemptUntil }: Pick<Payment, 'fencedUntil' | 'requestExpiresAt' | 'attemptUntil'>,
  providerNow: Date,
): boolean {
  // An attempt that has just been claimed has no `requestExpiresAt` yet. Its request will expire when the attempt ends.
  const latest = Math.max(fencedUntil?.getTime() ?? 0, (requestExpiresAt ?? attemptUntil)?.getTime() ?? 0)
  return latest === 0 || providerNow.getTime() >= latest + PAYMENT_FENCE_MARGIN_MS
}

/**
 * Returns whether the send window is over. A payment that is sent later might no longer fit the limits that were
 * checked when the payment was reserved (D24b).
 */
export function isTooOldToSend({ createdAt }: Pick<Payment, 'createdAt'>, now: Date): boolean {
  return now.getTime() - createdAt.getTime() >= SEND_WINDOW_MS
}

/**
 * Returns whether the payment is never sent again, so that it fails if no earlier request was carried out. A withdrawal
 * is sent once, because we do not keep its owner's signature.
 */
export function isNeverSentAgain(payment: Pick<Payment, 'kind' | 'createdAt'>, now: Date): boolean {
  return payment.kind === 'withdrawal' || isTooOldToSend(payment, now)
}

/** Returns whether we do not know yet if the enclave has accepted the payment. */
export function isOutcomeUnknown(payment: Payment): boolean {
  return payment.status === 'pending' && payment.txHash === null && payment.enclaveTransactionId === null
}

/**
 * Returns whether the payment's receipt could settle the payment now, if `head` is the newest block. Once the payment
 * was seen in a block, its receipt is read again only when that block is deep enough. Before that, the payment would
 * stay pending, whether the receipt still exists or not (D28).
 */
export function isReceiptDue(
  payment: Payment,
  { head, confirmations }: { head: bigint; confirmations: number },
): boolean {
  return payment.minedBlock === null || head >= payment.minedBlock + BigInt(confirmations) - 1n
}

/**
 * How long one attempt to send a payment may take. The signed request expires at the same time, so the enclave rejects
 * it if it arrives late. We stop waiting for the response earlier, after `ENCLAVE_TIMEOUT_MS`.
 */
export const ATTEMPT_MS = 10_000
/** The time between the reservation of a purchase and the first look at its authorization on the chain. */
export const AUTHORIZATION_FIRST_LOOKUP_MS = 1_000
/** How long an owner has to sign a withdrawal. The signed request is valid for the same time. */
export const WITHDRAWAL_REQUEST_MS = 5 * 60 * 1_000
/**
 * A request counts as expired only this long after its expiry, because the clocks of the enclave's machines may differ.
 */
export const PAYMENT_FENCE_MARGIN_MS = 5_000
/** How long we wait for the hash of a sponsored payment before we respond without the hash (D24). */
export const HASH_WAIT_MS = 5_000
/** The send window: a payment that was not sent within this time after its creation is never sent (D24b). */
export const SEND_WINDOW_MS = 10 * 60 * 1_000
