import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'

export type TxHash = `0x${string}`

/**
 * A payment begins as a reservation: it is `pending`, has no hash, and every limit counts it before the enclave is called
 * (D22). Then these things can happen to it, each at most once, whichever process sees it first:
 *
 * - The enclave accepts it: it stays `pending`, gets the enclave's own id, and `tx_hash` once that is known.
 * - The enclave refuses it: it is `failed`, and no longer counts in any limit.
 * - The enclave never received it, and the send window is over: it is `failed`, and no longer counts in any limit.
 * - The chain proves the transfer, deep enough: it is `confirmed`, by one Transfer log that settles no other payment.
 * - The chain proves that the transfer did not happen and can no longer happen: it is `failed`, and its amount no longer
 *   counts in the cap and the balance.
 *
 * Only proof ends a payment that was signed (D24a). What the provider reports about it (`failed`, "pending for too long")
 * proves nothing, because a signed transfer can land later. Such a payment stays `pending`, with a reason that is shown.
 * The one exception is a revert that is reported without a hash, because then there is nothing to look for
 * (`reconcile-payment.ts`).
 *
 * A receipt that is not deep enough yet is recorded as `minedBlock`, and removed if a reorganization takes its block away.
 * `confirmed` and `failed` are final. The table below lists every move. `movePayment` in the store is the only function
 * that moves a payment; it reads the states from this table, and the constraints of the table `payments` agree with it.
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
 * Why a payment failed. `replaced`: another transaction of the wallet used its nonce. `never_mined`: the provider gave it
 * up. That code appears only in old records, from before a payment needed proof to end.
 */
export const FAILURE_CODES = [
  'enclave_refused',
  'never_received',
  'never_mined',
  'reverted',
  'transfer_missing',
  'replaced',
] as const

export type FailureCode = (typeof FAILURE_CODES)[number]

/**
 * Why a payment is still pending, if that needs attention:
 * - `not_sent`: the provider did not send it, for a reason that the operator can find in the log; a retry may succeed.
 * - `outcome_unknown`: the provider's response was lost, or does not show the outcome; the payment is being looked up.
 * - `hash_unknown`: the provider accepted it, and has not given a transaction hash yet.
 * - `reported_failed`, `reported_replaced`, `reported_reverted`: the provider reports it, and the chain has not proven it.
 * - `transfer_not_found`: the transaction that the provider names does not contain this payment's transfer.
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

export interface Payment {
  readonly id: string
  readonly accountId: string
  readonly mode: Mode
  readonly agentId: string
  readonly walletAddress: Address
  readonly grantId: string
  readonly to: Address
  readonly amountMicro: MicroUsdc
  /** The amount as the caller wrote it. Responses repeat it unchanged (D19). */
  readonly amountUsdc: string
  readonly memo: string | null
  readonly idempotencyKey: string | null
  /** The API key or the connection that requested it; null in rows from before this was recorded. */
  readonly credentialId: string | null
  readonly status: PaymentStatus
  readonly failureCode: FailureCode | null
  readonly txHash: TxHash | null
  readonly createdAt: Date
  /** When the enclave accepted it, by our clock. */
  readonly acceptedAt: Date | null
  /** When it was confirmed, or failed. */
  readonly settledAt: Date | null
  readonly allowanceMonth: string | null
  /** The number of the last attempt at the enclave, and until when that attempt is claimed by its process. */
  readonly attempt: number
  readonly attemptUntil: Date | null
  /** When the last attempt's signed request expires, by the provider's clock; null if it was certainly not sent. */
  readonly requestExpiresAt: Date | null
  /** The fence: until when the request of an attempt without a response may still arrive, by the provider's clock. */
  readonly fencedUntil: Date | null
  readonly enclaveTransactionId: string | null
  /** The hash of the user operation that carries the transfer; null while unknown, and for a plain transaction. */
  readonly userOperationHash: TxHash | null
  /** The nonce of a plain transaction; null while unknown. */
  readonly senderNonce: bigint | null
  readonly pendingReason: PendingReason | null
  /** The chain's head before the payment was recorded; null in rows from before this was recorded. */
  readonly firstBlock: bigint | null
  /** The last block that was searched for its transfer. */
  readonly searchedBlock: bigint | null
  /** How often it was looked up. */
  readonly lookups: number
  /** The position in its block of the Transfer log that settled it. */
  readonly logIndex: bigint | null
  readonly minedBlock: bigint | null
  readonly minedBlockHash: string | null
}

/** The limits under which a payment was admitted. They are stored with it. */
export interface Admission {
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
  readonly spent24hMicro: MicroUsdc
}

/**
 * Returns whether no request of any attempt can still arrive at the provider. `providerNow` is the provider's own time, so
 * that an error of our clock never ends the fence early.
 */
export function isFenceOver(
  { fencedUntil, requestExpiresAt, attemptUntil }: Pick<Payment, 'fencedUntil' | 'requestExpiresAt' | 'attemptUntil'>,
  providerNow: Date,
): boolean {
  // Rows of older versions have no expiry of their own. Their requests expired when the attempt ended.
  const latest = Math.max(fencedUntil?.getTime() ?? 0, (requestExpiresAt ?? attemptUntil)?.getTime() ?? 0)
  return latest === 0 || providerNow.getTime() >= latest + PAYMENT_FENCE_MARGIN_MS
}

/** Returns whether the send window is over: sent later, the payment would no longer fit the limits it was admitted under (D24b). */
export function isTooOldToSend({ createdAt }: Pick<Payment, 'createdAt'>, now: Date): boolean {
  return now.getTime() - createdAt.getTime() >= SEND_WINDOW_MS
}

/** Returns whether it is unknown if the enclave has accepted the payment. */
export function isOutcomeUnknown(payment: Payment): boolean {
  return payment.status === 'pending' && payment.txHash === null && payment.enclaveTransactionId === null
}

/**
 * Returns whether the payment's receipt could settle it at this head. Once it was seen in a block, the receipt is not read
 * again before that block is deep enough, because until then neither the receipt nor its absence settles anything (D28).
 */
export function isReceiptDue(
  payment: Payment,
  { head, confirmations }: { head: bigint; confirmations: number },
): boolean {
  return payment.minedBlock === null || head >= payment.minedBlock + BigInt(confirmations) - 1n
}

/**
 * How long one attempt at the enclave may take. The signed request expires at the same time, so the enclave rejects it if
 * it arrives late. We wait for the response for a shorter time, `ENCLAVE_TIMEOUT_MS`.
 */
export const ATTEMPT_MS = 10_000
/** The clocks of the provider's machines may differ, so a request counts as expired only this long after its expiry. */
export const PAYMENT_FENCE_MARGIN_MS = 5_000
/** How long we wait for a sponsored payment's hash before we respond without it (D24). */
export const HASH_WAIT_MS = 5_000
/** The send window: a payment that was not sent this long after its creation is never sent (D24b). */
export const SEND_WINDOW_MS = 10 * 60 * 1_000
