import { formatRequestForAuthorizationSignature } from '@privy-io/node'
import type { Config } from '../config.ts'

/** An answer as it came; the status is null when there was none. */
export interface Answer {
  readonly status: number | null
  readonly body: Readonly<Record<string, unknown>>
}

/** Signs a request's canonical form: the value of the signature header. */
export type Sign = (payload: Uint8Array) => string

export interface WireRequest {
  readonly body?: Readonly<Record<string, unknown>>
  readonly sign?: Sign
  readonly idempotencyKey?: string
  readonly expiresAt?: Date
}

export type ProviderWire = ReturnType<typeof openProviderWire>

const REQUEST_MS_MAX = 20_000

/**
 * The provider's REST API without the SDK and without our driver in between, so that what comes is seen as it came. A
 * request is made once and never repeated.
 */
export function openProviderWire({ apiUrl, appId, appSecret }: Config['enclave']) {
  const credentials = Buffer.from(`${appId}:${appSecret}`).toString('base64')

  async function send(method: 'GET' | 'POST' | 'PATCH', path: string, request: WireRequest = {}): Promise<Answer> {
    const { body, sign, idempotencyKey, expiresAt } = request
    const url = `${apiUrl}${path}`
    // Each of these that is sent must be signed too, and no other.
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
        redirect: 'error',
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

/** A member of an answer that ought to be an object. */
export function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}
