import type { IncomingHttpHeaders } from 'node:http'
import type { Static } from 'typebox'
import type { ComparedRequest } from '../domain/payment-requests/compare-request.ts'
import type { PaymentCredential, PaymentRequest } from '../domain/payment-requests/payment-request.ts'
import { parseAddress, ZERO_ADDRESS, type Address, ADDRESS_RULE } from '../values/address.ts'
import { parseAgentId, AGENT_ID_RULE } from '../values/agent-id.ts'
import { parseAmount, AMOUNT_RULE } from '../values/money.ts'
import { problem } from '../values/problem.ts'
import { countCodePoints, isStorable } from '../values/text.ts'
import type { CreatePaymentBody } from './schemas.ts'
import { invalidMember } from '../values/invalid-request.ts'

const IDEMPOTENCY_KEY_CHARS_MAX = 64

/** The part of a payment's request that comes from the body. The rest comes from the caller's credential. */
export type ParsedPayment = Omit<PaymentRequest, 'workspaceId' | 'mode' | keyof PaymentCredential>

/**
 * Reads the idempotency key from a body that is not validated yet (D18, D21). Returns null if there is none. Throws 400
 * if the key is not valid.
 */
export function parseIdempotencyKey(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('idempotency_key' in body)) return null
  const key = body.idempotency_key
  if (key === undefined) return null
  if (typeof key === 'string' && key !== '' && countCodePoints(key) <= IDEMPOTENCY_KEY_CHARS_MAX && isStorable(key)) {
    return key
  }
  throw invalidMember('idempotency_key', `must be a string of 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} characters`)
}

/**
 * Throws 400 `idempotency_key_in_header` if the request has an `Idempotency-Key` header and the body does not contain
 * the same key (D51). The service does not use that header, so a retry without the key in its body would pay twice. The
 * check comes before an existing payment is returned, because it is unknown which of two different keys the caller
 * meant.
 */
export function checkIdempotencyHeader(headers: IncomingHttpHeaders, idempotencyKey: string | null): void {
  const header = headers['idempotency-key']
  if (header !== undefined && header !== idempotencyKey) throw problem('idempotency_key_in_header')
}

/** Parses the body's strings into values. Throws 400 `amount_invalid` or `address_invalid`, or 400 without a code. */
export function parsePayment(
  body: Static<typeof CreatePaymentBody>,
  { idempotencyKey, usdc }: { idempotencyKey: string | null; usdc: Address },
): ParsedPayment {
  const agentId = parseAgentId(body.agent_id)
  if (agentId === null) throw invalidMember('agent_id', AGENT_ID_RULE)
  const memo = body.memo ?? null
  if (memo !== null && !isStorable(memo))
    throw invalidMember('memo', 'must not contain NUL characters or lone surrogates')
  const amountMicro = parseAmount(body.amount_usdc)
  if (amountMicro === null) throw invalidMember('amount_usdc', AMOUNT_RULE, 'amount_invalid')
  const wallet = parsePaymentAddress('wallet', body.wallet)
  const to = parsePaymentAddress('to', body.to)
  // USDC that is sent to the zero address or to the token contract is lost (D20).
  if (to === ZERO_ADDRESS || to === usdc) {
    throw invalidMember('to', 'must not be the zero address or the USDC contract', 'address_invalid')
  }
  return { agentId, wallet, to, amountMicro, amountUsdc: body.amount_usdc, memo, idempotencyKey }
}

/**
 * Parses the fields of a body that may not be valid, to compare them with an existing payment (D52). A field that is
 * missing or not valid is undefined.
 */
export function parseComparedRequest(body: unknown): ComparedRequest {
  const fields: Readonly<Record<string, unknown>> = typeof body === 'object' && body !== null ? { ...body } : {}
  const parse = <Value>(name: string, parseText: (text: string) => Value | null): Value | undefined => {
    const text = fields[name]
    return typeof text === 'string' ? (parseText(text) ?? undefined) : undefined
  }
  return {
    agentId: parse('agent_id', parseAgentId),
    wallet: parse('wallet', parseAddress),
    to: parse('to', parseAddress),
    amountMicro: parse('amount_usdc', parseAmount),
    memo: fields['memo'] === undefined ? null : parse('memo', (text) => text),
  }
}

function parsePaymentAddress(member: string, text: string): Address {
  const address = parseAddress(text)
  if (address === null) throw invalidMember(member, ADDRESS_RULE, 'address_invalid')
  return address
}
