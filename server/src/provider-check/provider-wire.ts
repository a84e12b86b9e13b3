import { formatRequestForAuthorizationSignature } from '@privy-io/node'
import type { Config } from '../config.ts'
import { createBoundedFetch } from '../lib/outbound/bounded-fetch.ts'
import type { EgressProxy } from '../lib/outbound/egress-proxy.ts'

/** A response of the enclave, unchanged. The status is null if there was no response. */
export interface ProviderResponse {
  readonly status: number | null
  readonly body: Readonly<Record<string, unknown>>
}

/** Signs the canonical form of a request. Returns the value of the signature header. */
export type Sign = (payload: Uint8Array) => string

export interface WireRequest {
  readonly body?: Readonly<Record<string, unknown>>
  readonly sign?: Sign
  readonly idempotencyKey?: string
  readonly expiresAt?: Date
}

export type ProviderWire = ReturnType<typeof openProviderWire>

const REQUEST_MS_MAX = 20_000
const RESPONSE_BYTES_MAX = 1024 * 1024

/**
 * Makes functions that call the enclave's REST API without the SDK and without our code in `enclave/`, so that we see
 * its responses unchanged. A request is never repeated.
 */
export function openProviderWire({ apiUrl, appId, appSecret }: Config['enclave'], proxy: EgressProxy | null) {
  const { fetch } = createBoundedFetch(apiUrl, { proxy, responseBytesMax: RESPONSE_BYTES_MAX })
  const credentials = Buffer.from(`${appId}:${appSecret}`).toString('base64')

  async function send(
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    request: WireRequest = {},
  ): Promise<ProviderResponse> {
    const { body, sign, idempotencyKey, expiresAt } = request
    const url = `${apiUrl}${path}`
    // The signature must cover each of these headers that the request has, and no other header.
    const signed = {
      'privy-app-id': appId,
      ...(idempotencyKey === undefined ? {} : { 'privy-idempotency-key': idempotencyKey }),
      ...(expiresAt === undefined ? {} : { 'privy-request-expiry': String(expiresAt.getTime()) }),
    }
    const headers: Record<string, string> = {
      ...signed,
      authorization: `Basic ${credentials}`,
      accept: 'application/json',
    }
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (sign !== undefined && method !== 'GET') {
      const payload = formatRequestForAuthorizationSignature({ version: 1, method, url, body, headers: signed })
      headers['privy-authorization-signature'] = sign(payload)
    }
    try {
      const response = await fetch(url, {
        method,
        headers,
        signal: AbortSignal.timeout(REQUEST_MS_MAX),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: toRecord(await response.json().catch(() => null)) }
    } catch {
      return { status: null, body: {} }
    }
  }

  return {
    get: async (path: string) => await send('GET', path),
    post: async (path: string, request: WireRequest) => await send('POST', path, request),
    patch: async (path: string, request: WireRequest) => await send('PATCH', path, request),
  }
}

/** Returns a value that should be an object. If it is not an object, returns an empty one. */
export function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}
