import type { Static } from 'typebox'
import type { ComparedPurchase } from '../domain/purchases/compare-purchase.ts'
import { withoutFragment, type WrittenRequest } from '../domain/purchases/read-request.ts'
import type { PurchaseTerms } from '../domain/purchases/purchase-request.ts'
import type { ReceivedTerms } from '../domain/purchases/sign-for-resource.ts'
import { HOST_CHARS_MAX } from '../lib/outbound/check-url.ts'
import { URL_CHARS_MAX } from '../values/limits.ts'
import { parseExactJson } from '../lib/parse-json.ts'
import { ADDRESS_RULE, parseAddress } from '../values/address.ts'
import { AGENT_ID_RULE, parseAgentId } from '../values/agent-id.ts'
import { invalidMember } from '../values/invalid-request.ts'
import { AMOUNT_RULE, parseAmount } from '../values/money.ts'
import { isStorable } from '../values/text.ts'
import type { Caller } from './caller.ts'
import type { CheckResourceBody, PayResourceBody, SignResourceBody } from './purchase-schemas.ts'

type TermsBody = Omit<Static<typeof PayResourceBody>, keyof WrittenRequest>

/** Parses who buys, and for how much at most. Throws 400 that names the field. */
export function parsePurchaseTerms(body: TermsBody, caller: Caller, idempotencyKey: string): PurchaseTerms {
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
  const { workspaceId, mode, credentialId, requestId, agentId: boundAgentId } = caller
  const key = { workspaceId, mode, idempotencyKey }
  return { ...key, credentialId, requestId, boundAgentId, agentId, wallet, maxAmountMicro, memo }
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
 * Parses the terms that an agent received from a seller: the decoded object, or the header `PAYMENT-REQUIRED` (base64)
 * or `WWW-Authenticate` (MPP) as it was received. `jsonText` is the text of the whole body: the numbers of a decoded
 * object are taken from there, because the seller gets them back as it wrote them. Throws 400 that names the field.
 */
export function parseReceived(
  body: Pick<Static<typeof SignResourceBody>, 'payment_required' | 'resource_url'>,
  jsonText: string,
): ReceivedTerms {
  const { payment_required: terms, resource_url: resource } = body
  if (!URL.canParse(resource)) throw invalidMember('resource_url', 'must be a URL')
  const url = new URL(withoutFragment(resource))
  if (url.href.length > URL_CHARS_MAX || url.hostname.length > HOST_CHARS_MAX) {
    throw invalidMember(
      'resource_url',
      `must have at most ${URL_CHARS_MAX} characters, and ${HOST_CHARS_MAX} in its host`,
    )
  }
  if (!/^https?:$/.test(url.protocol) || url.host === '' || url.username !== '' || url.password !== '') {
    throw invalidMember('resource_url', 'must be a URL with http or https, without a user name')
  }
  const text = typeof terms === 'string' ? terms : writeMember(jsonText, 'payment_required')
  return { resourceUrl: url.href, answer: toAnswer(terms, text), text }
}

function writeMember(jsonText: string, name: keyof Static<typeof SignResourceBody>): string {
  const exact = parseExactJson(jsonText) as Readonly<Record<typeof name, unknown>>
  return JSON.stringify(exact[name])
}

function toAnswer(terms: unknown, text: string): ReceivedTerms['answer'] {
  const empty = Buffer.alloc(0)
  if (typeof terms === 'string') {
    const header = /^payment\s/i.test(terms) ? 'www-authenticate' : 'payment-required'
    return { status: 402, headers: { [header]: text }, body: empty }
  }
  const encoded = Buffer.from(text)
  // x402 version 1 has its terms in the body of the answer, and version 2 in a header.
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
    // The service never sends a request for an invalid body, so the body must differ from every existing purchase.
    // These values match none.
    request: operation === 'sign' ? null : { url: '', method: '', headers: '', body: '-' },
  }
}
