import type { Settings } from '../settings.ts'
import { currentToken } from './current-token.ts'
import { checkNotRedirected } from './foreign-response.ts'

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Returns the credential for the next request. */
export async function readToken({ folder, baseUrl, credential }: Settings): Promise<string> {
  return credential.kind === 'environment' ? credential.secret : await currentToken(folder, baseUrl)
}

/**
 * Returns a `fetch` that sends the credential. If the service rejects the token of a session (the service's clock may
 * be ahead of this machine's), refreshes the token and sends the request once more. That is safe, because a request
 * with the status 401 has done nothing. Throws if the service redirects.
 */
export function createServiceFetch(settings: Settings): Fetch {
  const { folder, baseUrl, credential } = settings
  const send = async (token: string, input: string | URL | Request, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined))
    headers.set('authorization', `Bearer ${token}`)
    const response = await fetch(input, { ...init, headers, redirect: 'manual' })
    checkNotRedirected(response, input instanceof Request ? input.url : String(input))
    return response
  }
  return async (input, init = {}) => {
    const token = await readToken(settings)
    const response = await send(token, input, init)
    if (response.status !== 401 || credential.kind === 'environment') return response
    await response.body?.cancel()
    return await send(await currentToken(folder, baseUrl, token), input, init)
  }
}
