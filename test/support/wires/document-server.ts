import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { findFreePort } from '../free-port.ts'
import { createSelfSigned } from './self-signed.ts'

/** A request for a document, as the server got it. */
export interface DocumentRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The host name that the client sent in the TLS handshake. */
  readonly serverName: string | false | null
}

/** Members of a document, or a function that sends the response. */
export type DocumentReply = Readonly<Record<string, unknown>> | ((response: ServerResponse, path: string) => void)

export interface DocumentServer {
  /** The server's origin, with https. */
  readonly origin: string
  /** The certificate in PEM, for a process that must trust the site. */
  readonly certificate: string
  readonly requests: readonly DocumentRequest[]
  /**
   * Sets the response for a path, and returns the URL. If `reply` has no `client_id`, this URL is added as `client_id`.
   */
  publish(path: string, reply: DocumentReply, headers?: Readonly<Record<string, string>>): string
  /** Returns how often the document with this URL was requested. */
  count(url: string): number
  close(): Promise<void>
}

const JSON_TYPE = { 'content-type': 'application/json' }

/**
 * Starts a web site on loopback that publishes client metadata documents over https. This process trusts its
 * certificate until the site is closed.
 */
export async function startDocumentServer(): Promise<DocumentServer> {
  const pair = createSelfSigned('localhost')
  const usual = getCACertificates('default')
  setDefaultCACertificates([...usual, pair.cert])
  const replies = new Map<string, (response: ServerResponse, path: string) => void>()
  const requests: DocumentRequest[] = []
  const server = createServer(pair, (request, response) => {
    const path = request.url ?? ''
    requests.push({ path, headers: request.headers, serverName: (request.socket as TLSSocket).servername })
    const reply = replies.get(path)
    if (reply === undefined) response.writeHead(404).end()
    else reply(response, path)
  })
  const port = await findFreePort()
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve)
  })
  const origin = `https://localhost:${port}`
  return {
    origin,
    certificate: pair.cert,
    requests,
    publish(path, reply, headers = {}) {
      const url = origin + path
      const sendMembers = (members: object) => (response: ServerResponse) => {
        response.writeHead(200, { ...JSON_TYPE, ...headers }).end(JSON.stringify({ client_id: url, ...members }))
      }
      replies.set(path, typeof reply === 'function' ? reply : sendMembers(reply))
      return url
    },
    count: (url) => requests.filter(({ path }) => origin + path === url).length,
    async close() {
      setDefaultCACertificates(usual)
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
