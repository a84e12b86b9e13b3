import type { Payment } from './payment.ts'

/**
 * The first values of the fields that later steps of a payment change. A new payment is a reservation whose first
 * attempt is claimed.
 */
const UNSET = {
  status: 'pending',
  failureCode: null,
  txHash: null,
  acceptedAt: null,
  settledAt: null,
  attempt: 1,
  fencedUntil: null,
  enclaveTransactionId: null,
  userOperationHash: null,
  senderNonce: null,
  pendingReason: null,
  searchedBlock: null,
  lookups: 0,
  minedBlock: null,
  minedBlockHash: null,
  logIndex: null,
  gasWei: null,
} as const satisfies Partial<Payment>

type Given<Kind> = Kind extends Payment ? Omit<Kind, keyof typeof UNSET> : never

export function newPayment<Fields extends Given<Payment>>(fields: Fields): Fields & typeof UNSET {
  return { ...fields, ...UNSET }
}
