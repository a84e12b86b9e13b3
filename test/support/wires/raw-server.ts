import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export interface RawServer {
  readonly port: number
  /** All requests as they arrived, with their bodies. */
  readonly requests: readonly string[]
  /** The number of connections so far, and how many of them are still open. */
  readonly connections: { readonly made: number; readonly open: number }
  close(): Promise<void>
}

/**
 * Starts a server that writes directly to sockets, so that it can send responses that no HTTP server would send.
 * `answer` is called once a whole request has arrived. With `early`, it is called once the request's headers have
 * arrived.
 */
export async function startRawServer(
  answer: (socket: Socket, request: string) => void,
  { early = false, server = createServer() }: { early?: boolean; server?: Server } = {},
): Promise<RawServer> {
  const requests: string[] = []
  const open = new Set<Socket>()
  let made = 0
  const serve = (socket: Socket): void => {
    made += 1
    open.add(socket)
    let received = ''
    socket.on('error', () => undefined)
    socket.on('close', () => open.delete(socket))
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
      const length = lengthOf(received, early)
      if (length === null || received.length < length) return
      const request = Buffer.from(received.slice(0, length), 'latin1').toString('utf8')
      received = received.slice(length)
      requests.push(request)
      answer(socket, request)
    })
  }
  // A TLS server emits `secureConnection` after the handshake.
  server.on('setSecureContext' in server ? 'secureConnection' : 'connection', serve)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    requests,
    get connections() {
      return { made, open: open.size }
    },
    close: async () => {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

function lengthOf(received: string, early: boolean): number | null {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [, length = '0'] = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, end)) ?? []
  return end + 4 + (early ? 0 : Number(length))
}
