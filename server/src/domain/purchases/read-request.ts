import { checkDocumentUrl } from '../../lib/outbound/check-url.ts'
import { dropHeaders } from '../../lib/outbound/drop-headers.ts'
import type { OutboundPolicy } from '../../lib/outbound/policy.ts'
import { invalidMember } from '../../values/invalid-request.ts'
import { problem } from '../../values/problem.ts'
import type { ResourceMethod, AgentRequest } from './purchase-request.ts'

const HEADERS_MAX = 50
const HEADER_BYTES_MAX = 8 * 1_024
const HEADER_NAME_PATTERN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** The ASCII characters that a header's value may contain (RFC 9110, section 5.5). */
const HEADER_VALUE_PATTERN = /^[\t\x20-\x7e]*$/
const BASE64_PATTERN = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** An HTTP request as a caller writes it. Its members have been checked to have these types. */
export interface WrittenRequest {
  readonly url: string
  readonly method?: ResourceMethod
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly body_base64?: string
}

/**
 * Parses the request that an agent wants to send. Throws a 400 that names the wrong field, and 400
 * `resource_url_not_allowed` for a URL to which the service sends nothing.
 */
export function readRequest(body: WrittenRequest, policy: OutboundPolicy): AgentRequest {
  const url = checkDocumentUrl(withoutFragment(body.url), policy)
  if (typeof url === 'string') throw problem('resource_url_not_allowed', { details: { reason: url } })
  const method = body.method ?? 'GET'
  const content = parseContent(body)
  if (content !== null && (method === 'GET' || method === 'HEAD')) {
    throw invalidMember(body.body === undefined ? 'body_base64' : 'body', `must be missing if method is ${method}`)
  }
  return { url: url.href, method, headers: parseHeaders(body.headers ?? {}), body: content }
}

/** Returns a URL without its fragment, which is never sent. */
export function withoutFragment(text: string): string {
  const end = text.indexOf('#')
  return end === -1 ? text : text.slice(0, end)
}

function parseContent({ body, body_base64: encoded }: WrittenRequest): Buffer | null {
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
