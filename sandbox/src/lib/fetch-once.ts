/**
 * Sends a request on a connection of its own. The built-in `fetch` keeps connections open, and their servers close them
 * after some idle seconds. A request that is sent at that moment fails, and no client may repeat a POST by itself.
 */
export async function fetchOnce(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers)
  headers.set('connection', 'close')
  // oxlint-disable-next-line no-restricted-globals -- this is the only call
  return await fetch(url, { ...init, headers })
}
