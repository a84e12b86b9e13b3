import { hash } from 'node:crypto'

/** The longest idempotency key that the enclave accepts, in characters. */
const ATTEMPT_KEY_CHARS_MAX = 256

/**
 * Returns the idempotency key that we send to the enclave with one attempt to pay (D22, D23). The key starts with the
 * workspace and mode, so keys of two workspaces or modes never collide. Then follows the caller's idempotency key, or the
 * payment's id if the caller sent none. The attempt's number comes last. Each attempt needs a new key, because the
 * enclave stores the failure of an attempt, and returns it again for the same key. A key that would be longer than
 * `ATTEMPT_KEY_CHARS_MAX` is hashed.
 */
export function attemptKey(payment: {
  readonly workspaceId: string
  readonly mode: string
  readonly id: string
  readonly idempotencyKey: string | null
  readonly attempt: number
}): string {
  const scope = `${payment.workspaceId}:${payment.mode}`
  const key = payment.idempotencyKey === null ? payment.id : `key:${encodeURIComponent(payment.idempotencyKey)}`
  const readable = `${scope}:${key}:${payment.attempt}`
  if (readable.length <= ATTEMPT_KEY_CHARS_MAX) return readable
  return `${scope}:key-sha256:${hash('sha256', key, 'hex')}:${payment.attempt}`
}
