import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'

/** An HTTP proxy that a test controls. Whatever it is asked for, it connects to one port of this machine. */
export interface ConnectProxy {
  readonly url: string
  /** Each request for a tunnel so far: its target, and the proxy's credentials. */
  readonly asked: { readonly target: string; readonly authorization: string | undefined }[]
  /** The status with which the proxy responds to a request for this target. By default 200, which opens the tunnel. */
  answer: (target: string) => number
  close(): Promise<void>
}

/** Starts a proxy on a free loopback port, or on the given one. `upstreamPort` is where its tunnels lead. */
export async function startConnectProxy(upstreamPort: number, port = 0): Promise<ConnectProxy> {
  const asked: ConnectProxy['asked'] = []
  const sockets = new Set<Socket>()
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => sockets.delete(socket))
  }
  const server = createServer().on('connection', keep)
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve)
  })
  const proxy: ConnectProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer: () => 200,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
  server.on('connect', (request, client: Socket) => {
    const target = request.url ?? ''
    asked.push({ target, authorization: request.headers['proxy-authorization'] })
    const status = proxy.answer(target)
    if (status !== 200) {
      client.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const upstream = connect(upstreamPort, '127.0.0.1')
    keep(upstream)
    upstream.on('connect', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      client.pipe(upstream).pipe(client)
    })
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  return proxy
}
