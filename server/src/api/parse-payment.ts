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
 * The idempotency key of any body, before anything else of it is looked at (D18, D21). Null where there is none;
 * 400 where it is there and can't be one.
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
 * A key in a header is one that we would ignore, so that the retry would pay twice: 400 `idempotency_key_in_header` unless
 * the body has the same one (D51). This is checked before a replay, because with two keys we cannot know which one is meant.
 */
export function checkIdempotencyHeader(headers: IncomingHttpHeaders, idempotencyKey: string | null): void {
  const header = headers['idempotency-key']
  if (header !== undefined && header !== idempotencyKey) throw problem('idempotency_key_in_header')
}

/** Strings become values, once and for ever. Throws 400: `amount_invalid`, `address_invalid`, or without a code. */
export function parsePayment(
  body: Static<typeof CreatePaymentBody>,
  { idempotencyKey, usdc }: { idempotencyKey: string | null; usdc: Address },
): ParsedPayment {
  const agentId = parseAgentId(body.agent_id)
  if (agentId === null) throw invalidAgentId('agent_id')
  const memo = body.memo ?? null
  if (memo !== null && !isStorable(memo)) throw invalid('memo', 'must not hold NUL characters or lone surrogates')
  const amountMicro = parseAmount(body.amount_usdc)
  if (amountMicro === null) throw problem('amount_invalid', { details: issues('amount_usdc', 'is not a valid amount') })
  const wallet = parsePaymentAddress('wallet', body.wallet)
  const to = parsePaymentAddress('to', body.to)
  // Money that is sent to the zero address or the token itself is lost (D20).
  if (to === ZERO_ADDRESS || to === usdc) {
    throw problem('address_invalid', { details: issues('to', 'must not be the zero address or the USDC contract') })
  }
  return { agentId, wallet, to, amountMicro, amountUsdc: body.amount_usdc, memo, idempotencyKey }
}

export function invalidAgentId(member: string): Problem {
  return invalid(
    member,
    'must be 1 to 64 characters, without control or invisible characters or outer white space, and not . or ..',
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
