import { PrivyClient } from '@privy-io/node'
import type { Clock } from '../../lib/clock.ts'
import type { FairPlaces } from '../../lib/fair-places.ts'
import type { Logger } from '../../lib/logger.ts'
import { createBoundedFetch } from '../../lib/outbound/bounded-fetch.ts'
import type { EgressProxy } from '../../lib/outbound/egress-proxy.ts'
import { isTooDeep } from '../../lib/parse-json.ts'
import { parseRetryAfterMs } from '../../lib/parse-retry-after.ts'
import { createEnclaveClock } from './enclave-clock.ts'
import { EnclaveRefused, EnclaveUnavailable } from '../errors.ts'
import { readErrorResponse, readFailure, type Failure } from './failure.ts'
import { createReach } from './reach.ts'
import { createRequestBudget } from './request-budget.ts'
import { createSignerKeyParser } from './signer-key.ts'

export type EnclaveOptions = {
  /** Must not end in a slash, because then the SDK would sign a URL other than the one that it calls. */
  readonly apiUrl: string
  readonly appId: string
  readonly appSecret: string
  /** The time limit of one request, including the body of its response. */
  readonly timeoutMs: number
}

/** The path of a well-formed id that no wallet has. The provider answers with 404 only if the credentials are right. */
export const ABSENT_WALLET_PATH = '/v1/wallets/c00000000000000000000000'
const RESPONSE_BYTES_MAX = 1024 * 1024
const SOCKETS_MAX = 128
/** How long a payment waits while the process finds out whether the enclave is in reach again. */
const PROBE_MS_MAX = 2_000

export type EnclaveClient = ReturnType<typeof createEnclaveClient>

/**
 * Creates the client of the enclave: the provider's SDK with our limits and without its log, and `getJson` for the one
 * call that the SDK does not have. The client never retries; callers decide that. Every response updates our estimate
 * of the enclave's clock. After a `Retry-After`, the whole process makes no look-ups until the given time.
 */
export function createEnclaveClient(
  options: EnclaveOptions,
  { clock, logger, places, proxy }: { clock: Clock; logger: Logger; places: FairPlaces; proxy: EgressProxy | null },
) {
  const { apiUrl, appId, appSecret, timeoutMs } = options
  checkApiUrl(apiUrl)
  const { fetch: boundedFetch, close } = createBoundedFetch(apiUrl, {
    ...{ proxy, checkBody, responseBytesMax: RESPONSE_BYTES_MAX, socketsMax: SOCKETS_MAX },
  })
  const enclaveClock = createEnclaveClock({ clock, logger })
  const budget = createRequestBudget(places)
  const reach = createReach(
    () => fetch(`${apiUrl}${ABSENT_WALLET_PATH}`, { headers, signal: AbortSignal.timeout(PROBE_MS_MAX) }),
    { clock, logger },
  )

  async function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const sentAt = clock.now()
    const response = await boundedFetch(input, init).catch((error: unknown) => {
      reach.observe(null)
      throw error
    })
    reach.observe(response.status)
    enclaveClock.observe(response.headers.get('date'), { sentAt, receivedAt: clock.now() })
    if (response.status === 429 || response.status === 503) {
      const retryAfterMs = parseRetryAfterMs(response.headers)
      if (retryAfterMs !== null) budget.pauseFor(retryAfterMs)
    }
    return response
  }

  const sdk = new PrivyClient({ appId, appSecret, apiUrl, fetch, timeout: timeoutMs, maxRetries: 0, logLevel: 'off' })
  const headers = {
    authorization: `Basic ${Buffer.from(`${appId}:${appSecret}`).toString('base64')}`,
    'privy-app-id': appId,
    accept: 'application/json',
  }

  /** Runs one call of the SDK. @throws EnclaveRefused, EnclaveUnavailable */
  async function call<T>(operation: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof EnclaveUnavailable || error instanceof EnclaveRefused) throw error
      throw toError(operation, readFailure(error))
    }
  }

  /**
   * Gets a resource for which the SDK has no method. `date` is the response's `Date` header, which is the enclave's
   * time.
   * @throws EnclaveRefused, EnclaveUnavailable
   */
  async function getJson(operation: string, path: string): Promise<{ body: unknown; date: string | null }> {
    return await call(operation, async () => {
      const response = await fetch(`${apiUrl}${path}`, { headers, signal: AbortSignal.timeout(timeoutMs) })
      const body: unknown = await response.json().catch(() => undefined)
      if (response.status !== 200) throw toError(operation, readErrorResponse(response.status, body))
      return { body, date: response.headers.get('date') }
    })
  }

  /** Returns the error for a failed call. An unknown outcome is logged, because the operator may have to act. */
  function toError(operation: string, failure: Failure): EnclaveRefused | EnclaveUnavailable {
    if (failure.kind === 'refused') return new EnclaveRefused({ operation, ...failure })
    const { status, code } = failure
    logger.warn({ operation, status, code }, 'the outcome of a call to the enclave is unknown')
    return new EnclaveUnavailable({ operation, status, code, cause: failure.cause })
  }

  return {
    apiUrl,
    appId,
    timeoutMs,
    sdk,
    clock: enclaveClock,
    budget,
    reach,
    parseSignerKey: createSignerKeyParser(),
    call,
    getJson,
    toError,
    close,
  }
}

/** The SDK parses the body without a limit of its own. */
function checkBody(body: Buffer): void {
  // The brackets and quotes of JSON have the same bytes in UTF-8 as in Latin-1, which is decoded faster.
  if (isTooDeep(body.toString('latin1'))) throw new Error('the response of the enclave is nested too deeply')
}

function checkApiUrl(apiUrl: string): void {
  const url = URL.canParse(apiUrl) ? new URL(apiUrl) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new TypeError("the enclave's address is not an http or https URL")
  }
  if (apiUrl.endsWith('/')) throw new TypeError("the enclave's address must not end in a slash")
  // We sign the text of the URL, so it must be exactly the URL that we call.
  if (`${url.origin}${url.pathname === '/' ? '' : url.pathname}` !== apiUrl) {
    throw new TypeError("the enclave's address must be a plain origin, with or without a path")
  }
}
