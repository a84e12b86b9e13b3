/** Tells the caller that the payment existed already, under the same idempotency key (D21). */
export const REPLAY_HEADER = 'Idempotent-Replayed'
/** Names the fields in which the request differs from the existing payment (D52). */
export const MISMATCH_HEADER = 'Idempotent-Mismatch'
