import type { Client } from '../domain/connections/client.ts'
import { isClientUrl } from '../domain/connections/client-url.ts'
import { STALE_DOCUMENT_MAX_MS } from '../domain/connections/limits.ts'
import { findClient } from '../domain/connections/queries.ts'
import { recordDocumentClient } from '../domain/connections/record-document-client.ts'
import type { Context } from '../domain/context.ts'
import { enforceRateLimit } from '../domain/enforce-rate-limit.ts'
import { openOutbound } from '../lib/outbound/open-outbound.ts'
import { Problem } from '../values/problem.ts'
import { parseClientDocument } from './client-document.ts'
import { FAILURE_LIFETIME_MS, fetchClientDocument } from './fetch-client-document.ts'
import { KNOWN_DOCUMENTS } from './known-documents.ts'
import { ClientDocumentUnavailable, InvalidClientDocument } from './oauth-error.ts'

/** Each process remembers at most this many failed fetches, the newest ones. */
const FAILURES_MAX = 1_000
/** How soon to try again if too many documents are being fetched. */
const BUSY_RETRY_SECONDS = 5

type Failure = ClientDocumentUnavailable | InvalidClientDocument

interface DocumentRequest {
  readonly url: string
  readonly address: string
  readonly network: string
}

/** Clients whose id is the URL of their metadata document (D73). */
export interface DocumentClients {
  /**
   * Returns the client with this URL. Fetches its document if the stored copy is missing or no longer fresh. If the
   * document cannot be read, returns the stored copy if it was fetched in the last 7 days, or else a built-in copy.
   * `address` is the IP address of the request, because fetches are counted per address. `network` is the stranger's
   * network, to which the place of a fetch belongs.
   *
   * Throws `InvalidClientDocument`, `ClientDocumentUnavailable`, or 429 `rate_limit_exceeded`.
   */
  get(request: DocumentRequest): Promise<Client>
  /** Ends all connections. */
  close(): void
}

/**
 * Prepares the fetching of metadata documents. The stored copies are in the database. Failures and fetches in progress
 * are known only in this process, so another process may fetch the same document again.
 */
export function openDocumentClients(ctx: Context, { ownOrigins }: { ownOrigins: readonly string[] }): DocumentClients {
  const outbound = openOutbound({ policy: ctx.outbound, clock: ctx.clock })
  const fetches = new Map<string, Promise<Client>>()
  const failures = new Map<string, { readonly error: Failure; readonly until: number }>()

  const throwFailure = (url: string): void => {
    const failure = failures.get(url)
    const restMs = (failure?.until ?? 0) - ctx.clock.now().getTime()
    // If `restMs` is above the limit, the clock was set back after the failure. Then the failure is ignored.
    if (failure !== undefined && restMs > 0 && restMs <= FAILURE_LIFETIME_MS) throw failure.error
  }

  const rememberFailure = (url: string, error: Failure): void => {
    failures.delete(url)
    failures.set(url, { error, until: ctx.clock.now().getTime() + FAILURE_LIFETIME_MS })
    const [oldest] = failures.keys()
    if (failures.size > FAILURES_MAX && oldest !== undefined) failures.delete(oldest)
  }

  /** Fetches the document and stores a copy, unless a fresh copy is already stored. Returns the client. */
  const fetchAndSave = async (url: string, signal: AbortSignal): Promise<Client> => {
    try {
      // Another request, also in another process, may have stored a copy since the caller looked for one.
      const stored = await findClient(ctx, { id: url })
      if (stored !== null && isFresh(stored, ctx.clock.now())) return stored
      const onEnd = ctx.outboundTrace.of(null)
      const document = await fetchClientDocument(outbound, { url, ownOrigins, signal, onEnd })
      return await recordDocumentClient(ctx, { url, ...document, source: 'fetched' })
    } catch (error) {
      if (isFailure(error) && !signal.aborted) {
        rememberFailure(url, error)
        ctx.logger.warn({ err: error, client: url }, 'the metadata document of an OAuth client was not accepted')
      }
      throw error
    }
  }

  /** Reads the document. Requests for the same document share one fetch. */
  const read = async ({ url, address, network }: DocumentRequest): Promise<Client> => {
    throwFailure(url)
    await enforceRateLimit(ctx, { subject: address, bucket: 'client_document' })
    const started = fetches.get(url)
    if (started !== undefined) return await started
    // A fetch may have failed while the rate limit was checked.
    throwFailure(url)
    const full = (): ClientDocumentUnavailable => {
      const error = new ClientDocumentUnavailable('Too many client metadata documents are being read at the moment.', {
        retryAfterSeconds: BUSY_RETRY_SECONDS,
      })
      ctx.logger.warn({ err: error, client: url }, 'the metadata document of an OAuth client was not read')
      return error
    }
    const fetch = ctx.pools.clientDocuments
      .run(network, { full, mayEnd: true }, async ({ ended }) => fetchAndSave(url, ended))
      .finally(() => fetches.delete(url))
    fetches.set(url, fetch)
    return await fetch
  }

  const findCopy = async (url: string, stored: Client | null): Promise<Client | null> => {
    if (stored !== null && isRecent(stored, ctx.clock.now())) return stored
    const document = KNOWN_DOCUMENTS.find((known) => known.client_id === url)
    if (document === undefined) return null
    const copy = parseClientDocument(document, { url, ownOrigins })
    return await recordDocumentClient(ctx, { url, ...copy, freshForMs: FAILURE_LIFETIME_MS, source: 'built_in' })
  }

  return {
    async get(request) {
      const { url } = request
      if (!isClientUrl(url)) {
        throw new InvalidClientDocument(
          'A client_id that is a URL must use https and have a path. It must not have a query, a fragment, user information, an upper-case host, or segments such as .. in its path.',
        )
      }
      const stored = await findClient(ctx, { id: url })
      if (stored !== null && isFresh(stored, ctx.clock.now())) return stored
      try {
        return await read(request)
      } catch (error) {
        const copy = isTemporary(error) ? await findCopy(url, stored) : null
        if (copy === null) throw error
        return copy
      }
    },
    close: () => outbound.close(),
  }
}

function isFresh({ freshUntil }: Client, now: Date): boolean {
  return freshUntil !== null && now < freshUntil
}

/**
 * Returns whether a stored copy may be used although its document cannot be read. Returns false for a stored copy of a
 * built-in document: `findCopy` uses the built-in document itself.
 */
function isRecent({ fetchedAt }: Client, now: Date): boolean {
  return fetchedAt !== null && now.getTime() - fetchedAt.getTime() <= STALE_DOCUMENT_MAX_MS
}

function isFailure(error: unknown): error is Failure {
  return error instanceof ClientDocumentUnavailable || error instanceof InvalidClientDocument
}

/**
 * Returns whether the document could not be read. A document that was read and breaks a rule is never replaced by a
 * copy.
 */
function isTemporary(error: unknown): boolean {
  return error instanceof ClientDocumentUnavailable || (error instanceof Problem && error.type === 'rate_limited')
}
