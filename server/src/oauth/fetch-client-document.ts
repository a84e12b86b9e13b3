import { hostOfClientUrl } from '../domain/connections/client-url.ts'
import type { OutboundError } from '../lib/outbound/outbound-error.ts'
import {
  type Answer,
  type Outbound,
  sendRequest,
  type SentReport,
  type SentRequest,
  withoutAnswer,
} from '../lib/outbound/send-request.ts'
import { parseJson } from '../lib/parse-json.ts'
import { lifetimeOf } from './cache-lifetime.ts'
import { type ClientDocument, parseClientDocument } from './client-document.ts'
import { ClientDocumentUnavailable, ClientHostNotPublic } from './oauth-error.ts'
import { checkDocumentUrl } from '../lib/outbound/check-url.ts'

/** Requests without a workspace, such as those for documents, share their connections. */
const NO_WORKSPACE = ''

/** A longer document is rejected. Published documents have 300 to 700 bytes. */
export const DOCUMENT_BYTES_MAX = 5 * 1024
/** The time limit of a fetch: name resolution, connection, headers and body. Clients wait about 10 s for a response. */
const FETCH_MS_MAX = 5_000
/** A document that could not be read is not fetched again within this time. */
export const FAILURE_LIFETIME_MS = 60_000

const JSON_TYPE_PATTERN = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

const NOT_PUBLIC = 'its host has no public address'

/**
 * What error pages say about each failure. Anybody can cause a fetch, so a page does not reveal whether a host name is
 * unknown or resolves to an address of a private network.
 */
const FAILURES: Readonly<Record<OutboundError, string>> = {
  timeout: 'its server did not respond in time',
  dns_error: NOT_PUBLIC,
  blocked_address: NOT_PUBLIC,
  connection_refused: 'its server could not be reached',
  connection_reset: 'its server closed the connection',
  tls_error: 'no secure connection to its server could be made',
  invalid_response: 'its server did not respond with valid HTTP',
}

interface DocumentFetch {
  readonly url: string
  readonly ownOrigins: readonly string[]
  readonly timeoutMs?: number
  /** Ends the fetch. */
  readonly signal?: AbortSignal
  readonly onEnd: (report: SentReport) => void
}

export interface FetchedDocument extends ClientDocument {
  /** How long the copy may be used without reading the document again, in milliseconds. */
  readonly freshForMs: number
}

/**
 * Fetches and parses a client's metadata document (D73). The server must respond with 200 and JSON of at most 5 KiB.
 * Throws `ClientDocumentUnavailable` if the document could not be read, and `InvalidClientDocument` if it breaks a
 * rule.
 */
export async function fetchClientDocument(
  outbound: Outbound,
  { url, ownOrigins, timeoutMs = FETCH_MS_MAX, signal, onEnd }: DocumentFetch,
): Promise<FetchedDocument> {
  // One byte more than allowed, so that a longer body is recognized.
  const limits = { timeoutMs, responseBytesMax: DOCUMENT_BYTES_MAX + 1, signal, onEnd }
  const { statusCode, headers, error, responseBody } = await getJson(outbound, { url, ...limits })
  if (error !== null) throw unavailable(url, FAILURES[error], error)
  if (statusCode !== 200) throw unavailable(url, `its server responded with the status ${statusCode}, not with 200`)
  if (!JSON_TYPE_PATTERN.test(headers['content-type'] ?? '')) {
    throw unavailable(url, 'its server did not send it as application/json')
  }
  const body = responseBody ?? Buffer.alloc(0)
  if (body.length > DOCUMENT_BYTES_MAX) throw unavailable(url, `it is longer than ${DOCUMENT_BYTES_MAX} bytes`)
  return {
    ...parseClientDocument(parseJsonObject(url, body), { url, ownOrigins }),
    freshForMs: lifetimeOf(headers['cache-control']),
  }
}

function parseJsonObject(url: string, body: Buffer): object {
  let value: unknown
  try {
    value = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch (error) {
    throw unavailable(url, 'it is not valid JSON', error)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw unavailable(url, 'it is not a JSON object')
}

function unavailable(url: string, reason: string, cause?: unknown): ClientDocumentUnavailable {
  const Unavailable = reason === NOT_PUBLIC ? ClientHostNotPublic : ClientDocumentUnavailable
  return new Unavailable(`The client metadata document at ${hostOfClientUrl(url)} could not be read: ${reason}.`, {
    cause,
    retryAfterSeconds: FAILURE_LIFETIME_MS / 1_000,
  })
}

/**
 * Requests JSON from a URL that anybody may have chosen, without a retry, and returns the answer. Failures of the
 * server are returned as answers, not thrown. The URL and every address are checked as for webhooks (D45, D73).
 * Redirects are not followed, and no cookies, credentials or proxies are used.
 */
async function getJson(
  outbound: Outbound,
  {
    url: text,
    ...limits
  }: { readonly url: string } & Pick<SentRequest, 'timeoutMs' | 'responseBytesMax' | 'signal' | 'onEnd'>,
): Promise<Answer> {
  const url = checkDocumentUrl(text, outbound.policy)
  if (typeof url === 'string') return withoutAnswer('blocked_address')
  return await sendRequest(outbound, url, {
    method: 'GET',
    headers: { accept: 'application/json' },
    body: null,
    connectionsOf: NO_WORKSPACE,
    ...limits,
  })
}
