import type { Static } from 'typebox'
import type { ComparedPurchase } from '../domain/purchases/compare-purchase.ts'
import type { PurchaseTerms, ResourceRequest } from '../domain/purchases/purchase-request.ts'
import type { ReceivedTerms } from '../domain/purchases/sign-for-resource.ts'
import { checkDocumentUrl } from '../lib/outbound/check-url.ts'
import { dropHeaders } from '../lib/outbound/drop-headers.ts'
import type { OutboundPolicy } from '../lib/outbound/policy.ts'
import { ADDRESS_RULE, parseAddress } from '../values/address.ts'
import { AGENT_ID_RULE, parseAgentId } from '../values/agent-id.ts'
import { invalidMember } from '../values/invalid-request.ts'
import { AMOUNT_RULE, parseAmount } from '../values/money.ts'
import { problem } from '../values/problem.ts'
import { isStorable } from '../values/text.ts'
import type { Caller } from './caller.ts'
import type { CheckResourceBody, PayResourceBody, SignResourceBody } from './purchase-schemas.ts'

const HEADERS_MAX = 50
const HEADER_BYTES_MAX = 8 * 1_024
const HEADER_NAME_PATTERN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** What a header's value may contain (RFC 9110, section 5.5), without bytes that are no text. */
const HEADER_VALUE_PATTERN = /^[\t\x20-\x7e]*$/
const URL_CHARS_MAX = 2_048
const BASE64_PATTERN = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

type ResourceBody = Pick<Static<typeof CheckResourceBody>, 'url' | 'method' | 'headers' | 'body' | 'body_base64'>
type TermsBody = Omit<Static<typeof PayResourceBody>, keyof ResourceBody>

/**
 * Parses the request that an agent wants to send. Throws 400 that names the field, and 400 `resource_url_not_allowed`
 * for a URL to which the service sends nothing.
 */
export function parseResource(body: ResourceBody, policy: OutboundPolicy): ResourceRequest {
  const url = checkDocumentUrl(withoutFragment(body.url), policy)
  if (typeof url === 'string') throw problem('resource_url_not_allowed', { details: { reason: url } })
  const method = body.method ?? 'GET'
  const content = parseContent(body)
  if (content !== null && (method === 'GET' || method === 'HEAD')) {
    throw invalidMember(body.body === undefined ? 'body_base64' : 'body', `must be missing if method is ${method}`)
  }
  return { url: url.href, method, headers: parseHeaders(body.headers ?? {}), body: content }
}

function withoutFragment(text: string): string {
  const end = text.indexOf('#')
  return end === -1 ? text : text.slice(0, end)
}

function parseContent({ body, body_base64: encoded }: ResourceBody): Buffer | null {
  if (body !== undefined && encoded !== undefined)
    throw invalidMember('body_base64', 'must be missing if there is a body')
  if (body !== undefined) return Buffer.from(body, 'utf8')
  if (encoded === undefined) return null
  if (!BASE64_PATTERN.test(encoded)) throw invalidMember('body_base64', 'must be base64 with padding')
  return Buffer.from(encoded, 'base64')
}

function parseHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(headers)
  if (entries.length > HEADERS_MAX) throw invalidMember('headers', `must have at most ${HEADERS_MAX} members`)
  let bytes = 0
  const parsed: Record<string, string> = {}
  for (const [name, value] of entries) {
    bytes += name.length + value.length
    if (!HEADER_NAME_PATTERN.test(name)) throw invalidMember('headers', 'must have valid names of HTTP headers')
    if (!HEADER_VALUE_PATTERN.test(value)) throw invalidMember(`headers.${name}`, 'must be visible ASCII characters')
    const lower = name.toLowerCase()
    if (Object.hasOwn(parsed, lower)) throw invalidMember('headers', 'must not have one name twice')
    Object.defineProperty(parsed, lower, { value: value.trim(), enumerable: true })
  }
  if (bytes > HEADER_BYTES_MAX) throw invalidMember('headers', `must be at most ${HEADER_BYTES_MAX} bytes together`)
  return dropHeaders(parsed)
}

/** Parses who buys, and for how much at most. Throws 400 that names the field. */
export function parseTerms(body: TermsBody, caller: Caller, idempotencyKey: string): PurchaseTerms {
  const agentId = parseAgentId(body.agent_id)
  if (agentId === null) throw invalidMember('agent_id', AGENT_ID_RULE)
  const memo = body.memo ?? null
  if (memo !== null && !isStorable(memo)) {
    throw invalidMember('memo', 'must not contain NUL characters or lone surrogates')
  }
  const maxAmountMicro = parseAmount(body.max_amount_usdc)
  if (maxAmountMicro === null) throw invalidMember('max_amount_usdc', AMOUNT_RULE, 'amount_invalid')
  const wallet = parseAddress(body.wallet)
  if (wallet === null) throw invalidMember('wallet', ADDRESS_RULE, 'address_invalid')
  const { accountId, mode, credentialId, agentId: boundAgentId } = caller
  return { accountId, mode, credentialId, boundAgentId, agentId, wallet, maxAmountMicro, memo, idempotencyKey }
}

/** Parses for whom a price is checked. Null if the body names nobody. Throws 400 that names the field. */
export function parseBuyer({ agent_id: agent, wallet: text }: Static<typeof CheckResourceBody>) {
  if (agent === undefined && text === undefined) return null
  if (agent === undefined) throw invalidMember('agent_id', 'is required if there is a wallet')
  if (text === undefined) throw invalidMember('wallet', 'is required if there is an agent_id')
  const agentId = parseAgentId(agent)
  if (agentId === null) throw invalidMember('agent_id', AGENT_ID_RULE)
  const wallet = parseAddress(text)
  if (wallet === null) throw invalidMember('wallet', ADDRESS_RULE, 'address_invalid')
  return { agentId, wallet }
}

/**
 * Parses what a seller asked the agent for: the decoded object, or the header `PAYMENT-REQUIRED` (base64) or
 * `WWW-Authenticate` (MPP) as it was received. Throws 400 that names the field.
 */
export function parseReceived(
  body: Pick<Static<typeof SignResourceBody>, 'payment_required' | 'resource_url'>,
): ReceivedTerms {
  const { payment_required: terms, resource_url: resource } = body
  if (resource.length > URL_CHARS_MAX || !URL.canParse(resource)) throw invalidMember('resource_url', 'must be a URL')
  const url = new URL(withoutFragment(resource))
  if (!/^https?:$/.test(url.protocol) || url.host === '' || url.username !== '' || url.password !== '') {
    throw invalidMember('resource_url', 'must be a URL with http or https, without a user name')
  }
  const text = typeof terms === 'string' ? terms : JSON.stringify(terms)
  return { resourceUrl: url.href, answer: toAnswer(terms, text), text }
}

function toAnswer(terms: unknown, text: string): ReceivedTerms['answer'] {
  const empty = Buffer.alloc(0)
  if (typeof terms === 'string') {
    const header = /^payment\s/i.test(terms) ? 'www-authenticate' : 'payment-required'
    return { status: 402, headers: { [header]: text }, body: empty }
  }
  const encoded = Buffer.from(text)
  // Version 1 is in the body of the answer, and version 2 in a header.
  const headers = { 'payment-required': encoded.toString('base64') }
  return { status: 402, headers, body: encoded }
}

/** Parses what can be parsed of a body that is not valid, to compare it with an existing purchase. */
export function parseCompared(body: unknown, operation: 'pay' | 'sign'): ComparedPurchase {
  const fields: Readonly<Record<string, unknown>> = typeof body === 'object' && body !== null ? { ...body } : {}
  const parse = <Value>(name: string, parseText: (text: string) => Value | null) => {
    const text = fields[name]
    const value = typeof text === 'string' ? parseText(text) : null
    return value === null ? null : value
  }
  const [agentId, wallet, maxAmountMicro] = [
    parse('agent_id', parseAgentId),
    parse('wallet', parseAddress),
    parse('max_amount_usdc', parseAmount),
  ]
  const memo = fields['memo'] === undefined ? null : parse('memo', (text) => text)
  return {
    ...(agentId === null ? {} : { agentId }),
    ...(wallet === null ? {} : { wallet }),
    ...(maxAmountMicro === null ? {} : { maxAmountMicro }),
    ...(fields['memo'] !== undefined && memo === null ? {} : { memo }),
    // A request that is not valid is none that was ever sent.
    request: operation === 'sign' ? null : { url: '', method: '', headers: '', body: '-' },
  }
}
