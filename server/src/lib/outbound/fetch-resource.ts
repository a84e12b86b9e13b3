import { checkDocumentUrl } from './check-url.ts'
import { sendRequest, withoutAnswer, type Answer, type Outbound } from './send-request.ts'

export interface ResourceRequest {
  readonly url: string
  readonly method: string
  /** Names in lower case, already without those that `dropHeaders` removes. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
  /** The time limit of everything, redirects included. */
  readonly timeoutMs: number
  readonly responseBytesMax: number
  /** How many redirects are followed. 0 for a request that pays (D69). */
  readonly redirectsMax: number
}

export interface ResourceAnswer {
  readonly answer: Answer
  /** The URL that answered, after redirects. */
  readonly url: string
  /** The method of the request that was answered. A redirect can change the method to GET. */
  readonly method: string
  /** Whether a part of the body is missing, because it is longer than what was read, or broke off. */
  readonly isTruncated: boolean
}

/** Connections are not kept, so they belong to no workspace. */
const NOBODY = ''

/**
 * Requests a resource that an agent chose. The URL and every address are checked as for webhooks, and again at each
 * redirect (D69). Each request gets a new connection, because a request on a kept connection may be sent twice.
 * Failures of the server are returned as answers, not thrown.
 */
export async function fetchResource(
  outbound: Outbound,
  { redirectsMax, timeoutMs, responseBytesMax, ...request }: ResourceRequest,
): Promise<ResourceAnswer> {
  const end = outbound.clock.now().getTime() + timeoutMs
  let current: RedirectedRequest = request
  for (let redirects = 0; ; redirects += 1) {
    const url = checkDocumentUrl(current.url, outbound.policy)
    const leftMs = Math.min(timeoutMs, end - outbound.clock.now().getTime())
    if (typeof url === 'string') return failed(current, 'blocked_address')
    if (leftMs <= 0) return failed(current, 'timeout')
    const answer = await sendRequest(outbound, url, {
      ...{ method: current.method, body: current.body, timeoutMs: leftMs },
      // A body that is not compressed needs no time to decode. If a server compresses it all the same, it is decoded.
      headers: { ...current.headers, 'accept-encoding': 'identity' },
      // One more byte is read, to find out whether the body is longer than `responseBytesMax`.
      responseBytesMax: responseBytesMax + 1,
      ...{ connection: 'new', connectionsOf: NOBODY },
    })
    const next = redirects < redirectsMax ? followRedirect(current, url, answer) : null
    if (next === null) return toResourceAnswer(answer, { ...current, responseBytesMax })
    if (next === 'downgrade') return failed(current, 'blocked_address')
    current = next
  }
}

type RedirectedRequest = Pick<ResourceRequest, 'url' | 'method' | 'headers' | 'body'>

function failed({ url, method }: RedirectedRequest, error: 'blocked_address' | 'timeout'): ResourceAnswer {
  return { answer: withoutAnswer(error), url, method, isTruncated: false }
}

function toResourceAnswer(
  answer: Answer,
  { url, method, responseBytesMax }: RedirectedRequest & Pick<ResourceRequest, 'responseBytesMax'>,
): ResourceAnswer {
  const { responseBody } = answer
  const isTooLong = responseBody !== null && responseBody.length > responseBytesMax
  const kept = isTooLong ? responseBody.subarray(0, responseBytesMax) : responseBody
  return {
    answer: { ...answer, responseBody: kept },
    url,
    method,
    isTruncated: responseBody !== null && !answer.isComplete,
  }
}

/**
 * Returns the request that follows a redirect, or null if the answer is not a redirect (RFC 9110, section 15.4). As in
 * browsers, a 303 is followed with GET, and so is a 301 or 302 that answers a POST. The header `authorization` is sent
 * to the same origin only. A redirect from https to http is a `downgrade`, which is not followed.
 */
function followRedirect(
  request: RedirectedRequest,
  from: URL,
  { statusCode, headers: { location } }: Answer,
): RedirectedRequest | 'downgrade' | null {
  // The body of a redirect is not needed, so it may break off.
  if (statusCode === null || ![301, 302, 303, 307, 308].includes(statusCode)) return null
  if (location === undefined || !URL.canParse(location, from.href)) return null
  const to = new URL(location, from.href)
  to.hash = ''
  if (from.protocol === 'https:' && to.protocol !== 'https:') return 'downgrade'
  const { method } = request
  const becomesGet = statusCode === 303 ? method !== 'HEAD' : statusCode < 303 && method === 'POST'
  const headers = Object.entries(request.headers).filter(([name]) => {
    if (becomesGet && name.startsWith('content-')) return false
    return name !== 'authorization' || to.origin === from.origin
  })
  return {
    url: to.href,
    method: becomesGet ? 'GET' : method,
    headers: Object.fromEntries(headers),
    body: becomesGet ? null : request.body,
  }
}
