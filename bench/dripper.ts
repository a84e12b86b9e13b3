import { connect, type Socket } from 'node:net'

/** The connections to open: some stay idle, and some send a request that never ends. */
export interface DripOrder {
  readonly port: number
  readonly idle: number
  readonly dripping: number
}

const DRIP_INTERVAL_MS = 500
const sockets = new Set<Socket>()

async function open({ port, idle, dripping }: DripOrder): Promise<number> {
  for (let opened = 0; opened < idle + dripping; opened += 1) {
    const socket = await openSocket(port)
    if (opened < dripping) socket.write('GET /v1/me HTTP/1.1\r\nHost: a\r\nX-Slow: ')
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    const isDripping = opened < dripping
    if (isDripping) setInterval(() => socket.writable && socket.write('x'), DRIP_INTERVAL_MS).unref()
  }
  return sockets.size
}

async function openSocket(port: number): Promise<Socket> {
  return await new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.on('error', reject)
  })
}

process.on('disconnect', () => process.exit(0))
process.on('message', (order: DripOrder | { readonly count: true }) => {
  if ('count' in order) process.send?.(sockets.size)
  else void open(order).then((opened) => process.send?.(opened))
})
process.send?.({ ready: true })
