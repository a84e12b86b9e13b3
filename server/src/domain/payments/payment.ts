import type { Address } from '../../values/address.ts'
import type { Mode } from '../../values/mode.ts'
import type { MicroUsdc } from '../../values/money.ts'

export type TxHash = `0x${string}`

/**
 * A payment begins as a reservation: `pending`, without a hash, counted by every limit, before the enclave hears of it
 * (D22). From then on exactly one of these things happens, whoever sees it first, once:
 *
 * - the enclave accepts it: still `pending`, now with `tx_hash` (or with the enclave's own id, until the hash is known);
 * - the enclave refuses it: `failed`, and its amount and its place in the allowance are given back;
 * - the enclave never received it, and the settling time is over: `failed`, given back likewise;
 * - the chain confirms it, deep enough: `confirmed`. The chain reports failure: `failed`, its amount is given back.
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

export type PaymentStatus = 'pending' | 'confirmed' | 'failed'

/** Why a payment failed: the enclave refused it, never got it, or the chain did not do it. */
export type FailureCode = 'enclave_refused' | 'never_received' | 'never_mined' | 'reverted' | 'transfer_missing'

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
  /** Until when the request of an attempt without an answer may still arrive at the enclave. */
  readonly fencedUntil: Date | null
  readonly enclaveTransactionId: string | null
  readonly minedBlock: bigint | null
  readonly minedBlockHash: string | null
}

/** The limits that a payment was admitted under, kept beside it. */
export interface Admission {
  readonly maxPerTxMicro: MicroUsdc
  readonly dailyCapMicro: MicroUsdc
  readonly spent24hMicro: MicroUsdc
}

/** Whether no request of any attempt can arrive at the enclave any more. */
export function isFenceOver(payment: Payment, now: Date): boolean {
  const latest = Math.max(payment.fencedUntil?.getTime() ?? 0, payment.attemptUntil?.getTime() ?? 0)
  return latest === 0 || now.getTime() >= latest + FENCE_MARGIN_MS
}

/** Whether nobody knows yet what became of it at the enclave. */
export function isUnsent(payment: Payment): boolean {
  return payment.status === 'pending' && payment.txHash === null && payment.enclaveTransactionId === null
}

/**
 * How long one attempt at the enclave may take: the signed request expires with it, so that a late one is refused.
 * The enclave's own answer is awaited for less, see `ENCLAVE_TIMEOUT_MS`.
 */
export const ATTEMPT_MS = 10_000
/** Clocks differ: a request counts as expired only so long after its expiry. */
export const FENCE_MARGIN_MS = 1_000
/** How long a sponsored send's hash is awaited before the answer goes out without it (D24). */
export const HASH_WAIT_MS = 5_000
/** What the enclave has not received by then, it never will (D23). */
export const SETTLING_MS = 10 * 60 * 1_000
