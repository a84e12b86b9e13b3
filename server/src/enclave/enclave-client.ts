import { PrivyClient } from '@privy-io/node'
import type { Logger } from '../lib/logger.ts'
import { createBoundedFetch } from './bounded-fetch.ts'
import { EnclaveRefused, EnclaveUnavailable } from './errors.ts'
import { readAnswer, readFailure, type Failure } from './failure.ts'
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

/** The SDK, bound and quiet, and the one call that it lacks. Nothing here is ever tried twice: callers decide that. */
export function createEnclaveClient(options: EnclaveOptions, { logger }: { logger: Logger }) {
  const { apiUrl, appId, appSecret, timeoutMs } = options
  checkApiUrl(apiUrl)
  const { fetch, close } = createBoundedFetch(apiUrl)
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

  /** GETs what the SDK has no method for. @throws EnclaveRefused, EnclaveUnavailable */
  async function getJson(operation: string, path: string): Promise<unknown> {
    return await call(operation, async () => {
      const response = await fetch(`${apiUrl}${path}`, { headers, signal: AbortSignal.timeout(timeoutMs) })
      const body: unknown = await response.json().catch(() => undefined)
      if (response.status !== 200) throw raise(operation, readAnswer(response.status, body))
      return body
    })
  }

  /** The error for a failure; an unknown outcome is logged, since it asks for somebody's attention. */
  function raise(operation: string, failure: Failure): EnclaveRefused | EnclaveUnavailable {
    if (failure.kind === 'refused') return new EnclaveRefused({ operation, ...failure })
    const { status, code } = failure
    logger.warn({ operation, status, code }, 'the enclave did not tell the outcome')
    return new EnclaveUnavailable({ operation, status, code, cause: failure.cause })
  }

  return { apiUrl, appId, sdk, parseSignerKey: createSignerKeyParser(), call, getJson, raise, close }
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
