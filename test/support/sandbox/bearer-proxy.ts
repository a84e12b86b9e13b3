import { createServer, request as connectHttp } from 'node:http'
import { findFreePort } from '../free-port.ts'

export interface BearerProxy {
  /** The proxy's origin, on loopback. */
  readonly origin: string
  close(): Promise<void>
}

/**
 * Starts a proxy that adds a bearer token to every request, for a client that cannot send one. A `Host` or `Origin`
 * that names the proxy becomes one that names the service. Other values of these headers are forwarded unchanged, so
 * that the service rejects them itself.
 */
export async function startBearerProxy(target: URL, token: string): Promise<BearerProxy> {
  const port = await findFreePort()
  const own = `localhost:${port}`
  const server = createServer((incoming, outgoing) => {
    const { host, origin } = incoming.headers
    const headers = {
      ...incoming.headers,
      authorization: `Bearer ${token}`,
      host: host === own ? target.host : host,
      ...(origin === `http://${own}` ? { origin: target.origin } : {}),
    }
    const { method, url: path } = incoming
    const sent = connectHttp({ hostname: target.hostname, port: target.port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    sent.on('error', () => outgoing.destroy())
    outgoing.on('close', () => sent.destroy())
    incoming.pipe(sent)
  })
  await new Promise<void>((resolve) => {
    server.listen(port, 'localhost', resolve)
  })
  return {
    origin: `http://${own}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
