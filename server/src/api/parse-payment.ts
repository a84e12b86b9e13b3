import type { IncomingHttpHeaders } from 'node:http'
import type { Static } from 'typebox'
import type { PaymentCredential, PaymentRequest } from '../domain/payments/payment-request.ts'
import { parseAddress, ZERO_ADDRESS, type Address } from '../values/address.ts'
import { parseAgentId } from '../values/agent-id.ts'
import { parseAmount } from '../values/money.ts'
import { Problem, problem } from '../values/problem.ts'
import { countCodePoints, isStorable } from '../values/text.ts'
import type { CreatePaymentBody } from './schemas.ts'

const IDEMPOTENCY_KEY_CHARS_MAX = 64

/** The part of a payment's request that comes from the body. The rest comes from the caller's credential. */
export type ParsedPayment = Omit<PaymentRequest, 'accountId' | 'mode' | keyof PaymentCredential>

/**
 * Reads the idempotency key of any body, before anything else in it is checked (D18, D21). Returns null if there is none.
 * Throws 400 if it is not a valid key.
 */
export function parseIdempotencyKey(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('idempotency_key' in body)) return null
  const key = body.idempotency_key
  if (key === undefined) return null
  if (typeof key === 'string' && key !== '' && countCodePoints(key) <= IDEMPOTENCY_KEY_CHARS_MAX && isStorable(key)) {
    return key
  }
  throw invalid('idempotency_key', `must be a string of 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} characters`)
}

/**
 * Throws 400 `idempotency_key_in_header` if the request has a key in its header that the body does not repeat (D51). We
 * ignore that header, so a retry would pay twice. This is checked before a replay, because with two different keys we
 * cannot know which one is meant.
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
  if (agentId === null) throw invalidAgentId('agent_id')
  const memo = body.memo ?? null
  if (memo !== null && !isStorable(memo)) throw invalid('memo', 'must not contain NUL characters or lone surrogates')
  const amountMicro = parseAmount(body.amount_usdc)
  if (amountMicro === null) throw problem('amount_invalid', { details: issues('amount_usdc', 'is not a valid amount') })
  const wallet = parsePaymentAddress('wallet', body.wallet)
  const to = parsePaymentAddress('to', body.to)
  // USDC that is sent to the zero address or to the token contract is lost (D20).
  if (to === ZERO_ADDRESS || to === usdc) {
    throw problem('address_invalid', { details: issues('to', 'must not be the zero address or the USDC contract') })
  }
  return { agentId, wallet, to, amountMicro, amountUsdc: body.amount_usdc, memo, idempotencyKey }
}

export function invalidAgentId(member: string): Problem {
  return invalid(
    member,
    'must be 1 to 64 characters, without control or invisible characters or white space at the ends, and not . or ..',
  )
}

function parsePaymentAddress(member: string, text: string): Address {
  const address = parseAddress(text)
  if (address === null) throw problem('address_invalid', { details: issues(member, 'is not a valid EVM address') })
  return address
}

function invalid(member: string, message: string): Problem {
  return new Problem('validation_failed', `${member} ${message}.`, { details: issues(member, message) })
}

function issues(path: string, message: string): { path: string; message: string }[] {
  return [{ path, message }]
}
