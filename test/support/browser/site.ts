import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createSelfSigned } from '../wires/self-signed.ts'

/** A web site that is not part of the service. A browser that `launchBrowser` started can open it. */
export interface Site {
  readonly origin: string
  close(): Promise<void>
}

interface SiteOptions {
  /** The host name: 127.0.0.1, localhost, or a name under `.example`, which the browser also finds on this computer. */
  readonly host?: string
  /** Whether the site uses TLS. Its certificate is signed by no authority. */
  readonly isSecure?: boolean
}

/** Starts a site on a free port. `handle` responds to its requests. */
export async function startSite(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  { host = '127.0.0.1', isSecure = false }: SiteOptions = {},
): Promise<Site> {
  const server = isSecure ? createHttpsServer(createSelfSigned(host), handle) : createHttpServer(handle)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    origin: `${isSecure ? 'https' : 'http'}://${host}:${port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

export function answerPage(response: ServerResponse, html: string): void {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html)
}

export function formatPage(title: string, body = ''): string {
  return `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>${body}</html>`
}
