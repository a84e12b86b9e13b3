import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** Handles the bytes of one connection. `pass` forwards bytes. Without a handler, all bytes are forwarded at once. */
export interface Tap {
  toServer?(chunk: Buffer, pass: (chunk: Buffer) => void): void
  toClient?(chunk: Buffer, pass: (chunk: Buffer) => void): void
}

/** A proxy between a client and a server on loopback. Tests can cut its connections. */
export interface TcpProxy {
  /** The server's URL, with the host and port of the proxy. */
  readonly url: string
  /** Drops everything that the server sends from now on. Requests still reach the server. */
  loseAnswers(): void
  /** Ends every connection, and rejects new ones until `restore` is called. */
  cut(): void
  restore(): void
  close(): Promise<void>
}

export async function startTcpProxy(targetUrl: string, openTap: () => Tap = () => ({})): Promise<TcpProxy> {
  const target = new URL(targetUrl)
  const sockets = new Set<Socket>()
  let isCut = false
  let answersAreLost = false

  const server = createServer((client) => {
    if (isCut) {
      client.destroy()
      return
    }
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    const tap = openTap()
    const toServer = passTo(upstream)
    const toClient = passTo(client)
    client.on('data', (chunk) => (tap.toServer === undefined ? toServer(chunk) : tap.toServer(chunk, toServer)))
    upstream.on('data', (chunk) => {
      if (answersAreLost) return
      if (tap.toClient === undefined) toClient(chunk)
      else tap.toClient(chunk, toClient)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const url = new URL(targetUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const endAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: url.href,
    loseAnswers: () => {
      answersAreLost = true
    },
    cut: () => {
      isCut = true
      endAll()
    },
    restore: () => {
      isCut = false
      answersAreLost = false
    },
    close: async () => {
      endAll()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

function passTo(socket: Socket): (chunk: Buffer) => void {
  return (chunk) => {
    if (socket.writable) socket.write(chunk)
  }
}
