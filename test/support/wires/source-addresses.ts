import { randomInt } from 'node:crypto'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** Connections that come from different addresses of this computer. */
export interface SourceAddresses {
  readonly port: number
  /** The clients' ends of the connections that were passed on. */
  readonly clients: readonly Socket[]
  close(): Promise<void>
}

const FORWARDED_PATTERN = /^x-forwarded-for: *\d+\.(\d+\.\d+\.\d+)/im

/**
 * Passes connections on to a port of this computer. Each comes from an address of its own below 127.0.0.0/8, which is
 * this computer as a whole on Linux. If its first request has the header `X-Forwarded-For`, the last three numbers of
 * the address are those of the header. So a proxy, which replaces the header, sees the same clients as a service that
 * trusts the header.
 */
export async function startSourceAddresses(target: number): Promise<SourceAddresses> {
  const clients: Socket[] = []
  const server = createServer((client) => {
    client.on('error', () => client.destroy())
    client.once('data', (head: Buffer) => {
      client.pause()
      const rest = FORWARDED_PATTERN.exec(head.toString('latin1'))?.[1] ?? randomAddressEnd()
      const outgoing = connect({ port: target, host: '127.0.0.1', localAddress: `127.${rest}` })
      outgoing.on('error', () => client.destroy())
      outgoing.once('connect', () => clients.push(client))
      client.once('close', () => outgoing.destroy())
      outgoing.write(head)
      client.pipe(outgoing)
      outgoing.pipe(client)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    clients,
    async close() {
      for (const client of clients) client.destroy()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

function randomAddressEnd(): string {
  return `${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`
}
