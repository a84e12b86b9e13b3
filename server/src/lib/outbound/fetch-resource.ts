import { openDeadline } from '../deadline.ts'
import { checkDocumentUrl } from './check-url.ts'
import { keepHarmlessHeaders } from './drop-headers.ts'
import { sendRequest, withoutAnswer, type Answer, type Outbound, type SentReport } from './send-request.ts'

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
  /** Ends the request, as its time limit does. */
  readonly signal?: AbortSignal | undefined
  /** Called when the request has ended, and also for each redirect that was followed. */
  readonly onEnd: (report: SentReport) => void
}

export interface ResourceAnswer {
  readonly answer: Answer
  /** The URL that answered, after redirects. */
  readonly url: string
  /**
   * If the answer is a redirect that was not followed because it would change the request, or send it to a server that
   * the caller did not name: the URL to which it points. Otherwise null.
   */
  readonly stoppedAt: string | null
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
  { redirectsMax, timeoutMs, responseBytesMax, signal, onEnd, ...request }: ResourceRequest,
): Promise<ResourceAnswer> {
  const deadline = openDeadline(timeoutMs)
  let current: RedirectedRequest = request
  for (let redirects = 0; ; redirects += 1) {
    const url = checkDocumentUrl(current.url, outbound.policy)
    const leftMs = deadline.leftMs()
    if (typeof url === 'string') return failed(current, 'blocked_address')
    if (leftMs === 0) return failed(current, 'timeout')
    const answer = await sendRequest(outbound, url, {
      ...{ method: current.method, body: current.body, timeoutMs: leftMs },
      // A body that is not compressed needs no time to decode. If a server compresses it all the same, it is decoded.
      headers: { ...current.headers, 'accept-encoding': 'identity' },
      // One more byte is read, to find out whether the body is longer than `responseBytesMax`.
      responseBytesMax: responseBytesMax + 1,
      signal,
      ...{ connection: 'new', connectionsOf: NOBODY, onEnd },
    })
    const location = redirects < redirectsMax ? readLocation(url, answer) : null
    if (location === null) return toResourceAnswer(answer, { ...current, responseBytesMax })
    const next = followRedirect(current, { from: url, to: location, status: answer.statusCode })
    if (next === 'stopped') {
      return { ...toResourceAnswer(answer, { ...current, responseBytesMax }), stoppedAt: location.href }
    }
    if (next === 'downgrade') return failed(current, 'blocked_address')
    current = next
  }
}

type RedirectedRequest = Pick<ResourceRequest, 'url' | 'method' | 'headers' | 'body'>

function failed({ url }: RedirectedRequest, error: 'blocked_address' | 'timeout'): ResourceAnswer {
  return { answer: withoutAnswer(error), url, stoppedAt: null, isTruncated: false }
}

function toResourceAnswer(
  answer: Answer,
  { url, responseBytesMax }: RedirectedRequest & Pick<ResourceRequest, 'responseBytesMax'>,
): ResourceAnswer {
  const { responseBody } = answer
  const isTooLong = responseBody !== null && responseBody.length > responseBytesMax
  const kept = isTooLong ? responseBody.subarray(0, responseBytesMax) : responseBody
  return {
    answer: { ...answer, responseBody: kept },
    url,
    stoppedAt: null,
    isTruncated: responseBody !== null && !answer.isComplete,
  }
}

/** Returns where an answer redirects to. Null if it is not a redirect (RFC 9110, section 15.4). Its body may break off. */
function readLocation(from: URL, { statusCode, headers: { location } }: Answer): URL | null {
  if (statusCode === null || ![301, 302, 303, 307, 308].includes(statusCode)) return null
  if (location === undefined || !URL.canParse(location, from.href)) return null
  const to = new URL(location, from.href)
  to.hash = ''
  return to
}

/**
 * Returns the request that follows a redirect. A request that may change something, such as a POST, is an order: it is
 * `stopped` if the redirect would turn it into a GET (301, 302, 303), or take it to another origin (307, 308). So its
 * body never reaches a server that the caller did not name. A GET or HEAD goes to another origin with harmless headers
 * only. A redirect from https to http is a `downgrade`, which is not followed.
 */
function followRedirect(
  request: RedirectedRequest,
  { from, to, status }: { readonly from: URL; readonly to: URL; readonly status: number | null },
): RedirectedRequest | 'stopped' | 'downgrade' {
  const isSameOrigin = to.origin === from.origin
  const keepsMethod = status === 307 || status === 308
  const isOrder = request.method !== 'GET' && request.method !== 'HEAD'
  if (isOrder && !(keepsMethod && isSameOrigin)) return 'stopped'
  if (from.protocol === 'https:' && to.protocol !== 'https:') return 'downgrade'
  return { ...request, url: to.href, headers: isSameOrigin ? request.headers : keepHarmlessHeaders(request.headers) }
}
