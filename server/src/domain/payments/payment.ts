import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'

export type TxHash = `0x${string}`

/**
 * A payment begins as a reservation: `pending`, without a hash, counted by every limit, before the enclave hears of it
 * (D22). From then on exactly one of these things happens, whoever sees it first, once:
 *
 * - the enclave accepts it: still `pending`, now with the enclave's own id, and with `tx_hash` once that is known;
 * - the enclave refuses it: `failed`, and its amount and its place in the allowance are given back;
 * - the enclave never received it, and the settling time is over: `failed`, given back likewise;
 * - the chain proves the transfer, deep enough: `confirmed`, by one Transfer log that settles no other payment;
 * - the chain proves that the transfer did not happen and cannot happen any more: `failed`, its amount is given back.
 *
 * Only proof ends a payment that was signed (D24a). What the provider says about it (`failed`, "pending for too long")
 * proves nothing, because a signed transfer can land later: it stays `pending`, with a reason that is shown. The one
 * exception is a revert that is reported without any hash, since there is nothing to look for (`reconcile-payment.ts`).
 *
 * A receipt that is not deep enough yet is noted (`minedBlock`), and forgotten if a reorganization takes it away.
 * `confirmed` and `failed` are final. The table below is all there is: the one function that moves a payment
 * (`movePayment`, in the store) takes its states from there, and the constraints of the table `payments` agree.
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
 * up, in records from before only proof ended a payment.
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
 * Why a payment is still pending, where that asks for attention:
 * - `not_sent`: the provider did not send it, for a reason that the operator can find in the log; a retry may succeed.
 * - `outcome_unknown`: the provider's response was lost or says nothing; it is being looked up.
 * - `hash_unknown`: the provider accepted it, and has not given a transaction hash yet.
 * - `reported_failed`, `reported_replaced`, `reported_reverted`: the provider says so, and the chain has not proven it.
 * - `transfer_not_found`: the transaction that the provider names holds no transfer that is this payment's.
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
  /** As the payer wrote it (D19). */
  readonly amountUsdc: string
  readonly memo: string | null
  readonly idempotencyKey: string | null
  /** The API key or the connection that asked for it; null in rows from before this was kept. */
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
  /** The number of the last attempt at the enclave, and until when its process holds the payment. */
  readonly attempt: number
  readonly attemptUntil: Date | null
  /** When the last attempt's signed request expires, by the provider's clock; null when it certainly was not sent. */
  readonly requestExpiresAt: Date | null
  /** Until when the request of an attempt without a response may still arrive at the provider, by the provider's clock. */
  readonly fencedUntil: Date | null
  readonly enclaveTransactionId: string | null
  /** Of the user operation that carries the transfer; null while unknown, and for a plain transaction. */
  readonly userOperationHash: TxHash | null
  /** Of a plain transaction; null while unknown. */
  readonly senderNonce: bigint | null
  readonly pendingReason: PendingReason | null
  /** The chain's head before the payment was recorded; null in rows from before this was kept. */
  readonly firstBlock: bigint | null
  /** Up to which block its transfer has been searched for. */
  readonly searchedBlock: bigint | null
  /** How often it was looked up. */
  readonly looks: number
  /** The position in its block of the Transfer log that settled it. */
  readonly logIndex: bigint | null
  readonly minedBlock: bigint | null
  readonly minedBlockHash: string | null
}

/** The limits that a payment was admitted under, kept beside it. */
export interface Admission {
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
  readonly spent24hMicro: MicroUsdc
}

/**
 * Whether no request of any attempt can arrive at the provider any more. `providerNow` is the provider's own time, so that
 * a clock of ours that is wrong never ends the fence early.
 */
export function isFenceOver(
  { fencedUntil, requestExpiresAt, attemptUntil }: Pick<Payment, 'fencedUntil' | 'requestExpiresAt' | 'attemptUntil'>,
  providerNow: Date,
): boolean {
  // Rows of the version before have no expiry of their own: there it was the attempt's end.
  const latest = Math.max(fencedUntil?.getTime() ?? 0, (requestExpiresAt ?? attemptUntil)?.getTime() ?? 0)
  return latest === 0 || providerNow.getTime() >= latest + PAYMENT_FENCE_MARGIN_MS
}

/** Whether it is too old to be sent for the first time (D24b): it would leave the window that it was admitted under. */
export function isTooOldToSend({ createdAt }: Pick<Payment, 'createdAt'>, now: Date): boolean {
  return now.getTime() - createdAt.getTime() >= SETTLING_MS
}

/** Whether nobody knows yet what became of it at the enclave. */
export function isUnsent(payment: Payment): boolean {
  return payment.status === 'pending' && payment.txHash === null && payment.enclaveTransactionId === null
}

/**
 * Whether the payment's receipt may decide something at this head. One that was seen in a block is not asked for again
 * before that block is deep enough: only then does anything follow from it (D28), or from its absence.
 */
export function isReceiptDue(
  payment: Payment,
  { head, confirmations }: { head: bigint; confirmations: number },
): boolean {
  return payment.minedBlock === null || head >= payment.minedBlock + BigInt(confirmations) - 1n
}

/**
 * How long one attempt at the enclave may take: the signed request expires with it, so that a late one is refused.
 * The enclave's own answer is awaited for less, see `ENCLAVE_TIMEOUT_MS`.
 */
export const ATTEMPT_MS = 10_000
/** The provider's machines may differ among each other: a request counts as expired only so long after its expiry. */
export const PAYMENT_FENCE_MARGIN_MS = 5_000
/** How long a sponsored send's hash is awaited before the response goes out without it (D24). */
export const HASH_WAIT_MS = 5_000
/** A reservation that was not sent by then is never sent (D24b). */
export const SETTLING_MS = 10 * 60 * 1_000
