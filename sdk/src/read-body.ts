import { isObject } from './attempt.ts'

// Each function that is made here returns the body of a response if the body is what the operation returns, and
// otherwise null. A damaged or foreign body must never be taken for the result of a payment.

type MemberType = 'object' | 'array' | 'string' | 'string or null' | 'boolean'

/** Makes a function that accepts an object whose members have these types. */
export function withMembers<T>(members: Readonly<Record<string, MemberType>>) {
  return (body: unknown): T | null => {
    if (!isObject(body)) return null
    const isRight = Object.entries(members).every(([name, type]) => hasType(body[name], type))
    return isRight ? (body as T) : null
  }
}

/**
 * Makes a function that accepts a body whose `payment` has this idempotency key. With `isFree`, the function also
 * accepts a body without a payment.
 */
export function withPaymentOf<T>(idempotencyKey: string, { isFree }: { isFree: boolean }) {
  return (body: unknown): T | null => {
    const payment = isObject(body) ? body['payment'] : undefined
    if (payment === null) return isFree && isObject(body) && 'response' in body ? (body as T) : null
    if (!isObject(payment) || typeof payment['id'] !== 'string') return null
    return payment['idempotency_key'] === idempotencyKey ? (body as T) : null
  }
}

/** Returns the text of the body, if the body is evidence of a format that this client knows. */
export function asEvidence(body: unknown, text: string): string | null {
  return isObject(body) && body['format'] === 'bursar-evidence/1' ? text : null
}

function hasType(value: unknown, type: MemberType): boolean {
  switch (type) {
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'string or null':
      return value === null || typeof value === 'string'
    case 'string':
    case 'boolean':
      return typeof value === type
  }
}
