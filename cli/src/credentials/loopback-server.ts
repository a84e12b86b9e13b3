import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the authorization server sends back with the browser. */
export type Callback =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'error'; readonly error: string; readonly description: string }

/** Reads the parameters of an address to which the browser was sent. Returns null if they are not for this sign-in. */
export type ReadCallback = (parameters: URLSearchParams) => Callback | null

export interface LoopbackServer {
  readonly redirectUri: string
  /** Resolves when the browser has come back. */
  readonly callback: Promise<Callback>
  close(): Promise<void>
}

const CALLBACK_PATH = '/callback'
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  connection: 'close',
}

/**
 * Listens on a free port of 127.0.0.1 for the browser (RFC 8252, section 7.3). A request that does not belong to this
 * sign-in gets an error page and changes nothing, because every page in the browser can send one.
 */
export async function openLoopbackServer(read: ReadCallback): Promise<LoopbackServer> {
  let resolve: (callback: Callback) => void = () => undefined
  const callback = new Promise<Callback>((settle) => {
    resolve = settle
  })
  // Only a sign-in needs a server. Loading this module would double the time in which every other command starts.
  const { createServer } = await import('node:http')
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo
    const url = new URL(request.url ?? '/', `http://127.0.0.1:${port}`)
    // If the request names another host, somebody else's DNS may have directed that name to this machine.
    const isForUs = request.method === 'GET' && request.headers.host === `127.0.0.1:${port}`
    if (!isForUs || url.pathname !== CALLBACK_PATH) return sendPage(response, 404, 'There is no page at this address.')
    const found = read(url.searchParams)
    if (found === null) return sendPage(response, 400, 'This sign-in was not started here. Start it again.')
    const isDone = found.kind === 'code'
    sendPage(
      response,
      isDone ? 200 : 400,
      isDone ? 'Go back to the terminal. You can close this page.' : 'Nothing was connected. Go back to the terminal.',
    )
    response.on('close', () => resolve(found))
  })
  await new Promise<void>((listening, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', listening)
  })
  const { port } = server.address() as AddressInfo
  return {
    redirectUri: `http://127.0.0.1:${port}${CALLBACK_PATH}`,
    callback,
    close: async () => {
      server.closeAllConnections()
      await new Promise((closed) => {
        server.close(closed)
      })
    },
  }
}

function sendPage(response: ServerResponse, status: number, sentence: string): void {
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Bursar</title><body style="font:16px system-ui;margin:15vh auto;max-width:32em;padding:0 1em"><h1 style="font-size:20px">Bursar command line</h1><p>${sentence}</p>`
  response.writeHead(status, PAGE_HEADERS).end(page)
}
