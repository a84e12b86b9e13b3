import { hash } from 'node:crypto'
import type { Payment } from './payment.ts'

/** What identifies a payment at the provider and on the chain. */
type PaymentKey = Pick<Payment, 'workspaceId' | 'mode' | 'idempotencyKey'>

/**
 * Returns the reference id of a payment at the enclave, at most 64 characters (D23, D96). It is derived from the
 * idempotency key. So a service whose database was restored from a backup finds the transfer of a payment that the
 * backup does not contain. A payment without a key is never requested twice, and its reference id is its own id.
 */
export function referenceId(payment: PaymentKey & Pick<Payment, 'id'>): string {
  return payment.idempotencyKey === null ? payment.id : `key_${digest('reference', payment, 'base64url')}`
}

/**
 * Returns the nonce of the authorization that pays for a purchase, 32 bytes as hexadecimal digits (D96). It is derived
 * from the idempotency key. The chain accepts each nonce once, so the key can never pay twice, even if a restored
 * database has forgotten the purchase. Knowing a nonce is of no use without a signature.
 */
export function authorizationNonce(key: PaymentKey & { readonly idempotencyKey: string }): `0x${string}` {
  return `0x${digest('nonce', key, 'hex')}`
}

function digest(purpose: string, { workspaceId, mode, idempotencyKey }: PaymentKey, encoding: 'hex' | 'base64url') {
  return hash('sha256', JSON.stringify([purpose, workspaceId, mode, idempotencyKey]), encoding)
}
