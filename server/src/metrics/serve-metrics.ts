import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HEADER_BYTES_MAX, HEADERS_TIMEOUT_MS, REQUEST_TIMEOUT_MS } from '../http/limits.ts'
import type { Logger } from '../lib/logger.ts'

const PATH = '/metrics'
/** A few programs read metrics, each with one or two connections. */
const CONNECTIONS_MAX = 32

export interface MetricsServer {
  readonly port: number
  close(): Promise<void>
}

/**
 * Serves the metrics on a port of their own, so that the port that the internet reaches never has them (D75). They need
 * no credential.
 */
export async function serveMetrics(
  { host, port }: { readonly host: string; readonly port: number },
  { render, contentType, logger }: { render: () => Promise<string>; contentType: string; logger: Logger },
): Promise<MetricsServer> {
  const respond = async (response: ServerResponse): Promise<void> => {
    const text = await render()
    response.writeHead(200, { 'Content-Type': contentType, 'Cache-Control': 'no-store' }).end(text)
  }
  const limits = {
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
  }
  const server = createServer(limits, ({ method, url }, response) => {
    if (url?.split('?')[0] !== PATH) {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end(`The metrics are at ${PATH}.\n`)
      return
    }
    if (method !== 'GET' && method !== 'HEAD') {
      response.writeHead(405, { Allow: 'GET, HEAD' }).end()
      return
    }
    respond(response).catch((error: unknown) => {
      logger.error({ err: error }, 'the metrics could not be rendered')
      response.writeHead(500).end()
    })
  })
  server.maxConnections = CONNECTIONS_MAX
  server.listen({ host, port })
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
