import { hash } from 'node:crypto'

/** The longest idempotency key that the enclave accepts. */
const ATTEMPT_KEY_CHARS_MAX = 256

/**
 * Returns the idempotency key of one attempt at the enclave (D22, D23): the caller's key, or else the payment's id, with
 * the account and mode in front, so that keys of two accounts or modes never collide. Each attempt has a new key, because
 * the enclave replays a stored failure for a used one. A key that is too long for the header is hashed.
 */
export function attemptKey(payment: {
  readonly accountId: string
  readonly mode: string
  readonly id: string
  readonly idempotencyKey: string | null
  readonly attempt: number
}): string {
  const scope = `${payment.accountId}:${payment.mode}`
  const key = payment.idempotencyKey === null ? payment.id : `key:${encodeURIComponent(payment.idempotencyKey)}`
  const readable = `${scope}:${key}:${payment.attempt}`
  if (readable.length <= ATTEMPT_KEY_CHARS_MAX) return readable
  return `${scope}:key-sha256:${hash('sha256', key, 'hex')}:${payment.attempt}`
}
