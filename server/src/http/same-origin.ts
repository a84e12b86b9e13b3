import type { FastifyRequest } from 'fastify'
import { problem } from '../values/problem.ts'

/**
 * Whether a request that changes something for whoever holds the cookie comes from our own pages (D47): nothing may
 * contradict it, and a browser's `Origin` or `Sec-Fetch-Site` must say so. Neither means no browser that is new enough.
 * `Origin: null` says nothing: a browser that never tells where it comes from sends it for our own pages too, and what no
 * page can forge, `Sec-Fetch-Site`, then decides. Else 403 `cross_origin`.
 */
export function checkSameOrigin(request: FastifyRequest, authUrl: string): void {
  const { origin: told, 'sec-fetch-site': site } = request.headers
  const origin = told === 'null' && site === 'same-origin' ? undefined : told
  const contradicts = (origin !== undefined && origin !== authUrl) || (site !== undefined && site !== 'same-origin')
  if (contradicts || (origin === undefined && site === undefined)) throw problem('cross_origin')
}
