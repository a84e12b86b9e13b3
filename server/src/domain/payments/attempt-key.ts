import { hash } from 'node:crypto'

/** The enclave's bound on an idempotency key. */
const ATTEMPT_KEY_CHARS_MAX = 256

/**
 * The idempotency key of one attempt at the enclave (D22, D23): the caller's key, else the payment's id, scoped so that
 * two accounts or modes never collide there. A later attempt has a fresh key, since the enclave replays a stored
 * failure for a used one. A key that a header can't carry is hashed.
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
