import type { FastifyRequest } from 'fastify'
import { problem } from '../values/problem.ts'

/**
 * Rejects a request that uses the session's cookie to change something, unless it comes from our own pages (D47).
 * `Origin` or `Sec-Fetch-Site` must show that it comes from our pages, and neither may show the opposite. Throws 403
 * `cross_origin`.
 *
 * A request with neither header does not come from a current browser, and is rejected. `Origin: null` shows nothing: a
 * browser with strict privacy settings sends it for our own pages too. In that case `Sec-Fetch-Site` decides, because
 * no page can forge it.
 */
export function checkSameOrigin(request: FastifyRequest, authUrl: string): void {
  const { origin: sentOrigin, 'sec-fetch-site': site } = request.headers
  const origin = sentOrigin === 'null' && site === 'same-origin' ? undefined : sentOrigin
  const contradicts = (origin !== undefined && origin !== authUrl) || (site !== undefined && site !== 'same-origin')
  if (contradicts || (origin === undefined && site === undefined)) throw problem('cross_origin')
}
