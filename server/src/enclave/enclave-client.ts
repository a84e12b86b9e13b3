import { PrivyClient } from '@privy-io/node'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/logger.ts'
import { parseRetryAfterMs } from '../lib/retry-after.ts'
import { createBoundedFetch } from './bounded-fetch.ts'
import { createEnclaveClock } from './enclave-clock.ts'
import { EnclaveRefused, EnclaveUnavailable } from './errors.ts'
import { readErrorResponse, readFailure, type Failure } from './failure.ts'
import { createRequestBudget } from './request-budget.ts'
import { createSignerKeyParser } from './signer-key.ts'

export type EnclaveOptions = {
  /** Without a slash at its end: the SDK would sign an address other than the one it calls. */
  readonly apiUrl: string
  readonly appId: string
  readonly appSecret: string
  /** Of one request, its answer's body included. */
  readonly timeoutMs: number
}

export type EnclaveClient = ReturnType<typeof createEnclaveClient>

/**
 * The SDK, bound and quiet, and the one call that it lacks. Nothing here is ever tried twice: callers decide that. Every
 * response teaches the provider's clock, and a `Retry-After` pauses the look-ups of the whole process.
 */
export function createEnclaveClient(options: EnclaveOptions, { clock, logger }: { clock: Clock; logger: Logger }) {
  const { apiUrl, appId, appSecret, timeoutMs } = options
  checkApiUrl(apiUrl)
  const { fetch: boundedFetch, close } = createBoundedFetch(apiUrl)
  const enclaveClock = createEnclaveClock({ clock, logger })
  const budget = createRequestBudget()

  async function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const sentAt = clock.now()
    const response = await boundedFetch(input, init)
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
      throw raise(operation, readFailure(error))
    }
  }

  /**
   * GETs what the SDK has no method for. `date` is the response's `Date` header: the provider's time.
   * @throws EnclaveRefused, EnclaveUnavailable
   */
  async function getJson(operation: string, path: string): Promise<{ body: unknown; date: string | null }> {
    return await call(operation, async () => {
      const response = await fetch(`${apiUrl}${path}`, { headers, signal: AbortSignal.timeout(timeoutMs) })
      const body: unknown = await response.json().catch(() => undefined)
      if (response.status !== 200) throw raise(operation, readErrorResponse(response.status, body))
      return { body, date: response.headers.get('date') }
    })
  }

  /** The error for a failure; an unknown outcome is logged, since it asks for somebody's attention. */
  function raise(operation: string, failure: Failure): EnclaveRefused | EnclaveUnavailable {
    if (failure.kind === 'refused') return new EnclaveRefused({ operation, ...failure })
    const { status, code } = failure
    logger.warn({ operation, status, code }, 'the enclave did not tell the outcome')
    return new EnclaveUnavailable({ operation, status, code, cause: failure.cause })
  }

  return {
    apiUrl,
    appId,
    timeoutMs,
    sdk,
    clock: enclaveClock,
    budget,
    parseSignerKey: createSignerKeyParser(),
    call,
    getJson,
    raise,
    close,
  }
}

function checkApiUrl(apiUrl: string): void {
  const url = URL.canParse(apiUrl) ? new URL(apiUrl) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new TypeError("the enclave's address is not an http or https URL")
  }
  if (apiUrl.endsWith('/')) throw new TypeError("the enclave's address must not end in a slash")
  // What was signed must be what is called, and it is the text that is signed.
  if (`${url.origin}${url.pathname === '/' ? '' : url.pathname}` !== apiUrl) {
    throw new TypeError("the enclave's address must be a plain origin, with or without a path")
  }
}
